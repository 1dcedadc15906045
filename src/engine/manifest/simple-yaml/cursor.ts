const COMMENT = /(?<=[ \n]|^)#[^\n]*/y;
const LINE_BREAK = /\r?\n|$/y;
/** A line break, a comment, or the end of the text. */
export const LINE_END = /[\r\n#]|$/y;

/** A position in YAML text, and the line that it is on. */
export class Cursor {
  readonly text: string;
  at = 0;
  /** The offset of the start of the line. */
  lineStart = 0;
  /** The column of the first character of the line with content; -1 after the last line. */
  column = 0;
  /** The number of brackets that are open. */
  flowDepth = 0;
  /** The offsets of the comments. */
  readonly comments: number[] = [];

  constructor(text: string) {
    this.text = text;
    this.nextContent();
  }

  /** The code unit at the cursor, as a text; `undefined` at the end. */
  get character(): string | undefined {
    return this.text[this.at];
  }

  /** True if a sticky pattern matches at the cursor. */
  sees(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    return pattern.test(this.text);
  }

  /** Moves behind the match of a sticky pattern. Returns false if there is none. */
  skip(pattern: RegExp): boolean {
    const isSeen = this.sees(pattern);
    if (isSeen) this.at = pattern.lastIndex;
    return isSeen;
  }

  skipSpaces(): void {
    while (this.text[this.at] === ' ') this.at += 1;
  }

  /** Skips the rest of a line, which may be a comment, and the lines below it that are empty or comments. */
  endLine(): void {
    if (!this.#skipLine()) throw new NotSimple();
    this.nextContent();
  }

  /** Moves to the first line with content, from the start of a line on. */
  nextContent(): void {
    do {
      this.lineStart = this.at;
      this.column = -1;
      if (this.character === undefined) return;
      // The YAML parser refuses some of these comments inside brackets.
      if (this.character === '#' && this.flowDepth > 0) throw new NotSimple();
    } while (this.#skipLine());
    this.column = this.at - this.lineStart;
  }

  /** Skips spaces, a comment and a line break. Returns false if something else comes first. */
  #skipLine(): boolean {
    this.skipSpaces();
    const { at } = this;
    if (this.skip(COMMENT)) this.comments.push(at);
    return this.skip(LINE_BREAK);
  }
}

/** Thrown for text outside of the simple part of YAML. */
export class NotSimple extends Error {}

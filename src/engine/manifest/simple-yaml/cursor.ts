import { CR, DASH, HASH, LF, SPACE } from './characters.ts';

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
  /** True if a scalar without quotes has a character that looks like one of YAML. */
  hasLookAlike = false;

  constructor(text: string) {
    this.text = text;
  }

  /** The code unit at the cursor; -1 at the end of the text. */
  get code(): number {
    return this.codeAt(this.at);
  }

  /** Returns the code unit at an offset; -1 at the end of the text. */
  codeAt(offset: number): number {
    return offset < this.text.length ? this.text.charCodeAt(offset) : -1;
  }

  /** True for the end of a line. The end of the text is another one. */
  isLineEndAt(offset: number): boolean {
    const code = this.codeAt(offset);
    return code === LF || code === CR;
  }

  /** True for a space, the end of a line and the end of the text. */
  isBlankAt(offset: number): boolean {
    const code = this.codeAt(offset);
    return code === SPACE || code === LF || code === CR || code === -1;
  }

  /** True for the indicator of a list item. */
  isDashAt(offset: number): boolean {
    return this.codeAt(offset) === DASH && this.isBlankAt(offset + 1);
  }

  /** True for a line that begins or ends a document, if the cursor is on a line with content. */
  isMarker(): boolean {
    const { text, at, column } = this;
    return column === 0 && (text.startsWith('---', at) || text.startsWith('...', at)) && this.isBlankAt(at + 3);
  }

  /** Returns the offset of the first character that is not a space. */
  spacesEnd(from: number): number {
    let at = from;
    while (this.codeAt(at) === SPACE) at += 1;
    return at;
  }

  skipSpaces(): void {
    this.at = this.spacesEnd(this.at);
  }

  /** Returns the offset of the end of a line: a line feed, or the end of the text. */
  lineEnd(from: number): number {
    const end = this.text.indexOf('\n', from);
    return end === -1 ? this.text.length : end;
  }

  /** Skips the rest of a line, which may be a comment, and the lines below it that are empty or comments. */
  endLine(): void {
    this.skipSpaces();
    if (this.code === HASH) {
      if (!this.isBlankAt(this.at - 1)) throw new NotSimple();
      this.comments.push(this.at);
      this.at = this.lineEnd(this.at);
    }
    if (this.code === CR) this.at += 1;
    if (this.code !== LF && this.code !== -1) throw new NotSimple();
    this.nextContent(this.at + 1);
  }

  /** Moves to the first line with content, from the start of a line on. */
  nextContent(lineStart: number): void {
    this.firstContent(lineStart);
    if (this.isMarker()) throw new NotSimple();
  }

  /** Does the same as `nextContent`, but the line may begin a document. */
  firstContent(from: number): void {
    for (let lineStart = from; lineStart < this.text.length; ) {
      const at = this.spacesEnd(lineStart);
      const code = this.codeAt(at);
      if (code !== LF && code !== CR && code !== HASH && code !== -1) {
        this.at = at;
        this.lineStart = lineStart;
        this.column = at - lineStart;
        return;
      }
      // The YAML parser refuses some of these comments inside brackets.
      if (code === HASH && at === lineStart && this.flowDepth > 0) throw new NotSimple();
      if (code === HASH) this.comments.push(at);
      lineStart = this.lineEnd(at) + 1;
    }
    this.at = this.text.length;
    this.column = -1;
  }
}

/** Thrown for text outside of the simple part of YAML. */
export class NotSimple extends Error {}

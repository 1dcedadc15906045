import { CR, DASH, GREATER, LF, SPACE } from './characters.ts';
import { type Cursor, NotSimple } from './cursor.ts';

/**
 * Reads the text below `|`, `|-`, `>` or `>-`. Moves the cursor to the start of the line below the text.
 *
 * @param indent the column of the key or dash before it; the text is indented further
 */
export function readBlockScalar(cursor: Cursor, indent: number): string {
  const isFolded = cursor.code === GREATER;
  const isStripped = cursor.codeAt(cursor.at + 1) === DASH;
  cursor.at += isStripped ? 2 : 1;
  cursor.skipSpaces();
  if (cursor.code !== LF) throw new NotSimple();
  cursor.at += 1;
  const lines = readLines(cursor, indent);
  return (isFolded ? fold(lines) : lines.join('\n')) + (isStripped ? '' : '\n');
}

/** Reads the lines without their indentation, and without the empty lines after the last one. */
function readLines(cursor: Cursor, indent: number): string[] {
  const { text } = cursor;
  const lines: string[] = [];
  let emptyLines = 0;
  let column = -1;
  for (let start = cursor.at; start < text.length; ) {
    const end = cursor.lineEnd(start);
    const first = cursor.spacesEnd(start);
    if (first === end) {
      // Spaces in an empty line may belong to the text.
      if (first > start) throw new NotSimple();
      emptyLines += 1;
    } else {
      if (column === -1 && first - start > indent) column = first - start;
      if (column === -1 || first - start < column) break;
      for (; emptyLines > 0; emptyLines -= 1) lines.push('');
      lines.push(lineText(text, start + column, end));
      cursor.at = Math.min(end + 1, text.length);
    }
    start = end + 1;
  }
  if (lines.length === 0) throw new NotSimple();
  return lines;
}

function lineText(text: string, start: number, end: number): string {
  if (text.charCodeAt(end - 1) === CR) throw new NotSimple();
  return text.slice(start, end);
}

/** Joins lines with spaces. An empty line is a line break. */
function fold(lines: readonly string[]): string {
  let folded = '';
  let separator = '';
  for (const line of lines) {
    // The line breaks around a line that is indented further stay.
    if (line.charCodeAt(0) === SPACE) throw new NotSimple();
    if (line !== '') {
      folded += separator + line;
      separator = ' ';
    } else if (separator === ' ') separator = '\n';
    else folded += '\n';
  }
  return folded;
}

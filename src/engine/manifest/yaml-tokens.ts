import { CST, Lexer } from 'yaml';

/** A token of YAML text. Joined, all tokens are the text. */
export interface YamlToken {
  readonly kind: 'space' | 'newline' | 'comment' | 'scalar' | 'block-scalar-header' | 'block-scalar' | 'other';
  readonly text: string;
  /** Its offset in UTF-16 code units. */
  readonly start: number;
}

/** Splits YAML text into tokens. After a syntax error they are a guess. */
export function tokenize(text: string): YamlToken[] {
  const tokens: YamlToken[] = [];
  let start = 0;
  // The lexer announces a scalar before its text, and a block scalar by its header.
  let announced: YamlToken['kind'] | undefined;
  let next: YamlToken['kind'] = 'scalar';
  for (const lexeme of new Lexer().lex(text)) {
    const type = CST.tokenType(lexeme);
    const kind = announced ?? tokenKind(type);
    if (kind === 'block-scalar-header') next = 'block-scalar';
    if (announced === undefined && type === 'scalar') {
      announced = next;
      next = 'scalar';
      continue;
    }
    announced = undefined;
    if (lexeme === '' || type === 'doc-mode' || type === 'flow-error-end') continue;
    tokens.push({ kind, text: lexeme, start });
    start += lexeme.length;
  }
  return tokens;
}

export interface YamlComment {
  /** The offset of its `#` in UTF-16 code units. */
  readonly start: number;
  /** The text from the `#` to the end of the line. */
  readonly text: string;
}

export function commentsOf(text: string): YamlComment[] {
  return tokenize(text).flatMap(({ kind, text, start }) => (kind === 'comment' ? [{ start, text }] : []));
}

/** Returns the comment that begins at an offset. */
export function commentAt(text: string, start: number): YamlComment {
  const lineEnd = text.indexOf('\n', start);
  return { start, text: text.slice(start, lineEnd === -1 ? undefined : lineEnd).replace(/\r$/, '') };
}

/** True for a punctuation mark, such as `-` or `{`. */
export function isIndicator({ kind, text }: YamlToken, indicator: string): boolean {
  return kind === 'other' && text === indicator;
}

function tokenKind(type: string | null): YamlToken['kind'] {
  if (type === 'space' || type === 'newline' || type === 'comment' || type === 'block-scalar-header') return type;
  return type?.endsWith('scalar') ? 'scalar' : 'other';
}

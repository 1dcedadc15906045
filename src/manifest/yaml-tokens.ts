import { CST, Lexer } from 'yaml';

/** A piece of YAML text; all of them, joined, are the text. */
export interface YamlToken {
  readonly kind: 'space' | 'newline' | 'comment' | 'scalar' | 'block-scalar-header' | 'block-scalar' | 'other';
  readonly text: string;
}

/** Takes YAML text that `parse` has no findings about into pieces. */
export function tokenize(text: string): YamlToken[] {
  const tokens: YamlToken[] = [];
  // The lexer says of a scalar that it comes; a header, that it is one of a block.
  let comes: YamlToken['kind'] | undefined;
  let next: YamlToken['kind'] = 'scalar';
  for (const piece of new Lexer().lex(text)) {
    const type = CST.tokenType(piece);
    const kind = comes ?? tokenKind(type);
    if (kind === 'block-scalar-header') next = 'block-scalar';
    if (comes === undefined && type === 'scalar') {
      comes = next;
      next = 'scalar';
      continue;
    }
    comes = undefined;
    if (piece !== '' && type !== 'doc-mode' && type !== 'flow-error-end') tokens.push({ kind, text: piece });
  }
  return tokens;
}

export interface YamlComment {
  /** Where its `#` stands: an offset in UTF-16 code units. */
  readonly start: number;
  /** From its `#` to the end of its line. */
  readonly text: string;
}

/** The comments of YAML text, in their order. */
export function commentsOf(text: string): YamlComment[] {
  const comments: YamlComment[] = [];
  let start = 0;
  for (const token of tokenize(text)) {
    if (token.kind === 'comment') comments.push({ start, text: token.text });
    start += token.text.length;
  }
  return comments;
}

function tokenKind(type: string | null): YamlToken['kind'] {
  if (type === 'space' || type === 'newline' || type === 'comment' || type === 'block-scalar-header') return type;
  return type?.endsWith('scalar') ? 'scalar' : 'other';
}

import { CST, Lexer } from 'yaml';

/** A piece of YAML text; all of them, joined, are the text. */
export interface Token {
  readonly kind: 'space' | 'newline' | 'comment' | 'scalar' | 'block-scalar-header' | 'block-scalar' | 'other';
  readonly text: string;
}

/** Takes YAML text that `parse` has no findings about into pieces. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  // The lexer says of a scalar that it comes; a header, that it is one of a block.
  let comes: Token['kind'] | undefined;
  let next: Token['kind'] = 'scalar';
  for (const piece of new Lexer().lex(text)) {
    const type = CST.tokenType(piece);
    const kind = comes ?? kindOf(type);
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

export interface Comment {
  /** Where its `#` stands: an offset in UTF-16 code units. */
  readonly start: number;
  /** From its `#` to the end of its line. */
  readonly text: string;
}

/** The comments of YAML text, in their order. */
export function commentsOf(text: string): Comment[] {
  const comments: Comment[] = [];
  let start = 0;
  for (const token of tokensOf(text)) {
    if (token.kind === 'comment') comments.push({ start, text: token.text });
    start += token.text.length;
  }
  return comments;
}

function kindOf(type: string | null): Token['kind'] {
  if (type === 'space' || type === 'newline' || type === 'comment' || type === 'block-scalar-header') return type;
  return type?.endsWith('scalar') ? 'scalar' : 'other';
}

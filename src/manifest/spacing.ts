import type { Token } from './tokens.ts';

/** A token with the white space that was written before it on its line. */
export interface Piece extends Token {
  readonly gap: string;
}

/** What stands between two pieces of a line, by the first row that fits. */
const GAPS: readonly (readonly [fits: (left: Piece, right: Piece) => boolean, gap: string | undefined])[] = [
  // Comments may be aligned.
  [(_, right) => right.kind === 'comment', undefined],
  [(_, right) => is(right, ',') || is(right, ':'), ''],
  [(left) => is(left, ':') || is(left, '-') || is(left, '?'), ' '],
  [(left, right) => is(left, '{') && is(right, '}'), ''],
  [(left, right) => is(left, '[') || is(right, ']'), ''],
  [(left, right) => is(left, '{') || is(right, '}') || is(left, ','), ' '],
];

export function gapBetween(left: Piece, right: Piece): string {
  const row = GAPS.find(([fits]) => fits(left, right));
  return row?.[1] ?? (row === undefined && right.gap !== '' ? ' ' : right.gap);
}

export function is({ kind, text }: Token, indicator: string): boolean {
  return kind === 'other' && text === indicator;
}

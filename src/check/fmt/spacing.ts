import { isIndicator, type YamlToken } from '../../engine/manifest/yaml-tokens.ts';

/** A token with the white space before it on its line. */
export interface SpacedToken extends YamlToken {
  readonly gap: string;
}

/** The space between two tokens of a line, by the first matching row; `undefined` keeps it. */
const GAPS: readonly (readonly [
  matches: (left: SpacedToken, right: SpacedToken) => boolean,
  gap: string | undefined,
])[] = [
  // Comments may be aligned.
  [(_, right) => right.kind === 'comment', undefined],
  [(_, right) => isIndicator(right, ',') || isIndicator(right, ':'), ''],
  [(left) => isIndicator(left, ':') || isIndicator(left, '-') || isIndicator(left, '?'), ' '],
  [(left, right) => isIndicator(left, '{') && isIndicator(right, '}'), ''],
  [(left, right) => isIndicator(left, '[') || isIndicator(right, ']'), ''],
  [(left, right) => isIndicator(left, '{') || isIndicator(right, '}') || isIndicator(left, ','), ' '],
];

export function gapBetween(left: SpacedToken, right: SpacedToken): string {
  const row = GAPS.find(([matches]) => matches(left, right));
  return row?.[1] ?? (row === undefined && right.gap !== '' ? ' ' : right.gap);
}

import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createTokenRefusalCheck } from '../../src/process/workers/token-refusals.ts';

const SECOND = 1_000;

/** Checks counts at times in seconds after the start, and returns the line of each check. */
function linesOf(checks: readonly [second: number, counts: Record<string, number>][]): unknown[] {
  const lines: Record<string, unknown>[] = [];
  const check = createTokenRefusalCheck(pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }));
  const startMs = performance.now();
  return checks.map(([second, counts]) => {
    check(new Map(Object.entries(counts)), startMs + second * SECOND);
    const { reason, refused, tokens } = lines.shift() ?? {};
    expect(lines).toEqual([]);
    return reason === undefined ? undefined : [reason, refused, tokens];
  });
}

it('logs one line a minute while more than half of the tokens fail for one reason', () => {
  const lines = linesOf([
    [20, { allowed: 100, token_expired: 3 }],
    [70, { allowed: 150, token_expired: 3 }],
    [90, { allowed: 155, token_expired: 30 }],
    [100, { allowed: 155, token_expired: 60 }],
    [149, { allowed: 155, token_expired: 90 }],
    [151, { allowed: 160, token_expired: 100 }],
    [212, { allowed: 900, token_expired: 101 }],
    [230, { allowed: 900, token_expired: 121 }],
  ]);
  expect(lines).toEqual([
    undefined,
    undefined,
    ['token_expired', 27, 32],
    undefined,
    undefined,
    ['token_expired', 70, 75],
    undefined,
    ['token_expired', 20, 20],
  ]);
});

it.each([
  ['fewer than ten tokens', { allowed: 0, token_malformed: 9 }],
  ['half of the tokens', { allowed: 20, signature_wrong: 20 }],
  ['tokens that fail for different reasons', { allowed: 1, signature_wrong: 20, token_expired: 20 }],
  ['requests without tokens', { allowed: 1, token_missing: 1_000, origin_not_allowed: 1_000 }],
])('logs nothing for %s', (_name, counts) => {
  expect(
    linesOf([
      [20, counts],
      [65, counts],
    ]),
  ).toEqual([undefined, undefined]);
});

it('logs nothing for a burst of one client before others have sent requests', () => {
  expect(
    linesOf([
      [5, { allowed: 2, token_malformed: 12 }],
      [20, { allowed: 40, token_malformed: 12 }],
    ]),
  ).toEqual([undefined, undefined]);
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Issuer, startIssuer } from '../support/issuer.ts';
import type { Case } from './corpus/case.ts';
import { FRAMING } from './corpus/framing.ts';
import { HEADERS } from './corpus/headers.ts';
import { PATHS } from './corpus/paths.ts';
import { type Lane, startLane, uncaughtErrors } from './lane.ts';
import { checkCase } from './verdict.ts';

const CASES = { paths: PATHS, framing: FRAMING, headers: HEADERS };
const LANES = 24;

/** The errors of each case. */
const errors = new Map<Case, string[]>();
let issuer: Issuer;
let lanes: Lane[];

// The cases run in parallel, one at a time in each lane. The tests below only report the results.
beforeAll(async () => {
  issuer = await startIssuer();
  lanes = await Promise.all(Array.from({ length: LANES }, () => startLane(issuer)));
  const tokens = { token: await issuer.token(), guest: await issuer.token({ company_role: 'guest' }) };
  const pending = Object.values(CASES).flat();
  await Promise.all(
    lanes.map(async (lane) => {
      for (let next = pending.shift(); next !== undefined; next = pending.shift())
        errors.set(next, await checkCase(lane, next, tokens));
    }),
  );
});

afterAll(async () => {
  await Promise.all(lanes.map((lane) => lane.close()));
  await issuer.close();
});

describe.each(Object.entries(CASES))('the gateway, given hostile request %s,', (_topic, cases) => {
  it.each(cases.map((one) => [one.name, one] as const))('%s', (_name, one) => {
    expect(errors.get(one)?.join('\n')).toBe('');
  });
});

describe('the gateway, given hostile requests,', () => {
  it('throws no uncaught exception', () => {
    expect(uncaughtErrors).toEqual([]);
  });
});

describe('the corpus of hostile requests', () => {
  it('has a unique name and a source for each case', () => {
    const all = Object.values(CASES).flat();
    expect(all.length).toBeGreaterThan(300);
    const names = all.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(all.filter(({ source }) => source === '')).toEqual([]);
  });
});

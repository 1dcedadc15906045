import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Issuer, startIssuer } from '../support/issuer.ts';
import type { Case } from './corpus/case.ts';
import { FRAMING } from './corpus/framing.ts';
import { HEADERS } from './corpus/headers.ts';
import { PATHS } from './corpus/paths.ts';
import { crashes, type Lane, startLane } from './lane.ts';
import { judge } from './verdict.ts';

const FAMILIES = { paths: PATHS, framing: FRAMING, headers: HEADERS };
const LANES = 24;

/** What is not as it must be, for each case. */
const faults = new Map<Case, string[]>();
let issuer: Issuer;
let lanes: Lane[];

// The cases run side by side, a lane for each; the tests below only tell what came of them.
beforeAll(async () => {
  issuer = await startIssuer();
  lanes = await Promise.all(Array.from({ length: LANES }, () => startLane(issuer)));
  const tokens = { token: await issuer.token(), guest: await issuer.token({ company_role: 'guest' }) };
  const waiting = Object.values(FAMILIES).flat();
  await Promise.all(
    lanes.map(async (lane) => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        faults.set(next, await judge(lane, next, tokens));
    }),
  );
}, 60_000);

afterAll(async () => {
  await Promise.all(lanes.map((lane) => lane.close()));
  await issuer.close();
});

describe.each(Object.entries(FAMILIES))('%s', (_family, cases) => {
  it.each(cases.map((one) => [one.name, one] as const))('%s', (_name, one) => {
    expect(faults.get(one)?.join('\n')).toBe('');
  });
});

describe('the corpus', () => {
  it('has a name of its own and a source for each case', () => {
    const all = Object.values(FAMILIES).flat();
    expect(all.length).toBeGreaterThan(300);
    const names = all.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(all.filter(({ source }) => source === '')).toEqual([]);
  });

  it('brought nothing down', () => {
    expect(crashes).toEqual([]);
  });
});

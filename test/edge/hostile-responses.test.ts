import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOSTILE_RESPONSES, type HostileResponse } from './corpus/responses.ts';
import { uncaughtErrors } from './lane.ts';
import { type ResponseLane, startResponseLane } from './response-lane.ts';

const LANES = 24;

/** The errors of each case. */
const errors = new Map<HostileResponse, string[]>();
let lanes: ResponseLane[];

// The cases run in parallel, one at a time in each lane. The tests below only report the results.
beforeAll(async () => {
  lanes = await Promise.all(Array.from({ length: LANES }, startResponseLane));
  const pending = [...HOSTILE_RESPONSES];
  await Promise.all(
    lanes.map(async (lane) => {
      for (let next = pending.shift(); next !== undefined; next = pending.shift())
        errors.set(next, await lane.check(next));
    }),
  );
});

afterAll(() => Promise.all(lanes.map((lane) => lane.close())));

describe('the gateway, given hostile upstream responses,', () => {
  it.each(HOSTILE_RESPONSES.map((one) => [one.name, one] as const))('%s', (_name, one) => {
    expect(errors.get(one)?.join('\n')).toBe('');
  });

  it.each([
    ['refuses connections', '/closed/x'],
    ['has no address', '/nowhere/x'],
  ])('responds 502 if an upstream %s and keeps serving other upstreams', async (_case, path) => {
    const [lane] = lanes as [ResponseLane];
    expect(await lane.send(path)).toMatchObject({ status: 502 });
    expect(await lane.send('/x/next')).toMatchObject({ status: 200 });
  });

  it('throws no uncaught exception', () => {
    expect(uncaughtErrors).toEqual([]);
  });
});

describe('the corpus of hostile responses', () => {
  it('has a unique name and a source for each case', () => {
    expect(HOSTILE_RESPONSES.length).toBeGreaterThan(50);
    const names = HOSTILE_RESPONSES.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(HOSTILE_RESPONSES.filter(({ source }) => source === '')).toEqual([]);
  });
});

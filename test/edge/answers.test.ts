import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnswerLane, startAnswerLane } from './answer-lane.ts';
import { ANSWERS, type HostileAnswer } from './corpus/answers.ts';
import { crashes } from './lane.ts';

const LANES = 24;

/** What is not as it must be, for each answer. */
const faults = new Map<HostileAnswer, string[]>();
let lanes: AnswerLane[];

// The answers are given side by side, a lane for each; the tests below only tell what came of them.
beforeAll(async () => {
  lanes = await Promise.all(Array.from({ length: LANES }, startAnswerLane));
  const waiting = [...ANSWERS];
  await Promise.all(
    lanes.map(async (lane) => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        faults.set(next, await lane.judge(next));
    }),
  );
}, 60_000);

afterAll(() => Promise.all(lanes.map((lane) => lane.close())));

describe('an upstream answers', () => {
  it.each(ANSWERS.map((one) => [one.name, one] as const))('%s', (_name, one) => {
    expect(faults.get(one)?.join('\n')).toBe('');
  });
});

describe('an upstream that', () => {
  it.each([
    ['refuses connections', '/gone/x'],
    ['has no address', '/nowhere/x'],
  ])('%s is 502, and the others go on', async (_what, path) => {
    const [lane] = lanes as [AnswerLane];
    expect(await lane.ask(path)).toMatchObject({ status: 502 });
    expect(await lane.ask('/x/next')).toMatchObject({ status: 200 });
  });
});

describe('the corpus', () => {
  it('has a name of its own and a source for each answer', () => {
    expect(ANSWERS.length).toBeGreaterThan(50);
    const names = ANSWERS.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(ANSWERS.filter(({ source }) => source === '')).toEqual([]);
  });

  it('brought nothing down', () => {
    expect(crashes).toEqual([]);
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createJudgeThread } from '../../src/plan/judge-thread.ts';
import type { SchemaRoot } from '../../src/plan/schema-files.ts';

const rootOf = (schema: object): SchemaRoot => ({ schemas: { A: { ...schema } }, routes: [], files: {} });
const PATH = ['schemas', 'A'];
const LIST = rootOf({ type: 'array', items: { type: 'integer', description: 'a number' } });
const text = (value: unknown) => Buffer.from(JSON.stringify(value));

describe('a body that another thread judges', () => {
  const judge = createJudgeThread(30_000);

  test('comes back byte for byte, and is handed over meanwhile', async () => {
    const body = text(Array.from({ length: 90_000 }, (_, index) => index));
    const copy = Buffer.from(body);
    const judged = judge(LIST, PATH, body);
    expect(body.length).toBe(0);
    expect((await judged).faults).toEqual([]);
    expect((await judged).body?.equals(copy)).toBe(true);
  });

  test('is judged as any other', async () => {
    expect((await judge(LIST, PATH, text([1, 'x', 'y']))).faults).toEqual([
      { pointer: '/1', message: 'must be integer', description: 'a number' },
      { pointer: '/2', message: 'must be integer', description: 'a number' },
    ]);
    expect((await judge(LIST, PATH, Buffer.from('[1,'))).faults).toEqual([
      { pointer: '', message: 'is not valid JSON' },
    ]);
    expect((await judge(LIST, PATH, text([2 ** 53]))).faults).toHaveLength(1);
  });

  test('takes nothing of its neighbours in a pool of memory', async () => {
    const neighbours = [Buffer.from('[1]'), Buffer.from('[2]'), Buffer.from('[3]')] as const;
    expect((await judge(LIST, PATH, neighbours[1])).body?.toString()).toBe('[2]');
    expect([neighbours[0].toString(), neighbours[2].toString()]).toEqual(['[1]', '[3]']);
  });

  test('is told apart from others at the same time, by schemas of many manifests', async () => {
    const roots = Array.from({ length: 5 }, (_, index) => rootOf({ const: index }));
    const asked = Array.from({ length: 50 }, (_, index) => ({
      root: roots[(index * 7) % 5] as SchemaRoot,
      value: index % 4,
    }));
    const judged = await Promise.all(asked.map(({ root, value }) => judge(root, PATH, text(value))));
    expect(judged.map(({ faults }) => faults.length === 0)).toEqual(
      asked.map(({ value }, index) => (index * 7) % 5 === value),
    );
    expect(judged.map(({ body }) => body?.toString())).toEqual(asked.map(({ value }) => String(value)));
  });

  test('does not hold the event loop', async () => {
    const body = Buffer.from(`[${'1e0,'.repeat(90_000)}${' '.repeat(9_000_000)}1]`);
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    const judged = judge(LIST, PATH, body);
    setImmediate(count);
    expect((await judged).faults).toEqual([]);
    isOver = true;
    expect(turns).toBeGreaterThan(20);
  });
});

test('an idle thread does not keep its process alive', async () => {
  const file = new URL('../../src/plan/judge-thread.ts', import.meta.url).href;
  const program = `
    import { createJudgeThread } from '${file}';
    const root = { schemas: { A: { type: 'array' } }, routes: [], files: {} };
    const { faults } = await createJudgeThread(30_000)(root, ['schemas', 'A'], Buffer.from('1'));
    console.log(faults[0].message);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { timeout: 20_000 });
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  expect(chunk.toString()).toBe('must be array\n');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('a body that takes too long is lost, and the next is judged by another thread', async () => {
  const judge = createJudgeThread(1);
  const slow = rootOf({ pattern: '^(?:(?:a{1,20}){1,20}){1,9}$' });
  const bodies = Array.from({ length: 3 }, () => text('a'.repeat(200_000)));
  const judged = await Promise.all(bodies.map((body) => judge(slow, PATH, body)));
  for (const { faults, body } of judged)
    expect([faults, body]).toEqual([[{ pointer: '', message: 'takes too long to check' }], undefined]);
});

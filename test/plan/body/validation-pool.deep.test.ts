import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { SchemaRoot } from '../../../src/engine/schema/schema-walk.ts';
import { parseStrictJson } from '../../../src/engine/validation/strict-json.ts';
import { ValidationPool, type ValidationPoolLimits } from '../../../src/engine/validation/validation-pool.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { pause } from '../../support/pause.ts';
import { eventually } from '../../support/site.ts';
import { scaledMs } from '../../support/slowness.ts';

const rootOf = (schema: object): SchemaRoot => ({ schemas: { A: { ...schema } }, routes: [], files: {} });
const PATH = ['schemas', 'A'];
const LIST = rootOf({ type: 'array', items: { type: 'integer', description: 'a number' } });
const text = (value: unknown) => Buffer.from(JSON.stringify(value));

/** A schema that validates for a minute: tests cancel it, or a limit terminates it. */
const SLOW = rootOf({ pattern: '(?:a|b)*a(?:a|b){300}$' });
const slowBody = () => text('a'.repeat(5_000_000));

function poolOf(limits: Partial<ValidationPoolLimits> = {}) {
  const pool = new ValidationPool(limits);
  const start = (root: SchemaRoot, body: Buffer, { route = 'a', client = 'c' } = {}) =>
    pool.validate({ route, client, root, body, work: { kind: 'body', path: PATH } });
  return { pool, start, validate: start };
}

describe('a body that another thread validates', () => {
  const { validate } = poolOf({ jobTimeoutMs: 60_000, queueTimeoutMs: 60_000 });

  test('is transferred to the thread and returned byte for byte', async () => {
    const body = text(Array.from({ length: 90_000 }, (_, index) => index));
    const copy = Buffer.from(body);
    const results = validate(LIST, body);
    expect(body.length).toBe(0);
    expect((await results).violations).toEqual([]);
    expect((await results).body?.equals(copy)).toBe(true);
  });

  test('gets the same violations as on the serving thread', async () => {
    expect((await validate(LIST, text([1, 'x', 'y']))).violations).toEqual([
      { pointer: '/1', message: 'must be integer', description: 'a number' },
      { pointer: '/2', message: 'must be integer', description: 'a number' },
    ]);
    expect((await validate(LIST, Buffer.from('[1,'))).violations).toEqual([
      { pointer: '', message: 'is not valid JSON' },
    ]);
    expect((await validate(LIST, text([2 ** 53]))).violations).toHaveLength(1);
  });

  test('does not transfer its neighbours in a shared buffer', async () => {
    const neighbours = [Buffer.from('[1]'), Buffer.from('[2]'), Buffer.from('[3]')] as const;
    expect((await validate(LIST, neighbours[1])).body?.toString()).toBe('[2]');
    expect([neighbours[0].toString(), neighbours[2].toString()]).toEqual(['[1]', '[3]']);
  });

  test('does not transfer other bytes of the same socket read', async () => {
    const read = Buffer.from(new ArrayBuffer(65_536)).fill(' ');
    read.write('[1]', 0);
    read.write('[2]', 60_000);
    expect((await validate(LIST, read.subarray(0, 50_000))).violations).toEqual([]);
    expect(read.toString('latin1', 60_000, 60_003)).toBe('[2]');
  });

  test('gets its own result among concurrent jobs of many manifests', async () => {
    const roots = Array.from({ length: 5 }, (_, index) => rootOf({ const: index }));
    const jobs = Array.from({ length: 50 }, (_, index) => ({
      root: roots[(index * 7) % 5] as SchemaRoot,
      value: index % 4,
    }));
    const results = await Promise.all(jobs.map(({ root, value }) => validate(root, text(value))));
    expect(results.map(({ violations }) => violations.length === 0)).toEqual(
      jobs.map(({ value }, index) => (index * 7) % 5 === value),
    );
    expect(results.map(({ body }) => body?.toString())).toEqual(jobs.map(({ value }) => String(value)));
  });

  test('does not block the event loop', async () => {
    const body = Buffer.from(`[${'1e0,'.repeat(90_000)}${' '.repeat(9_000_000)}1]`);
    const start = cpuMs();
    parseStrictJson(body);
    const parsed = cpuMs();
    expect((await validate(LIST, body)).violations).toEqual([]);
    // Parsing alone would take many times the processor time of the transfer.
    expect(cpuMs() - parsed).toBeLessThan((parsed - start) / 2);
  });
});

test('an idle thread does not keep its process alive', async () => {
  const file = new URL('../../../src/engine/validation/validation-pool.ts', import.meta.url).href;
  const program = `
    import { ValidationPool } from '${file}';
    const root = { schemas: { A: { type: 'array' } }, routes: [], files: {} };
    const job = { route: 'a', client: 'c', root, work: { kind: 'body', path: ['schemas', 'A'] }, body: Buffer.from('1') };
    const { violations } = await new ValidationPool().validate(job);
    console.log(violations[0].message);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { timeout: scaledMs(20_000) });
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  expect(chunk.toString()).toBe('must be array\n');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('a body that takes too long is refused, and another thread validates the next one', async () => {
  const { validate, pool } = poolOf({ jobTimeoutMs: 1 });
  const results = await Promise.all(Array.from({ length: 3 }, () => validate(SLOW, slowBody())));
  for (const { violations, body } of results)
    expect([violations, body]).toEqual([[{ pointer: '', message: 'takes too long to validate' }], undefined]);
  expect(pool.status).toMatchObject({ busy: 0, waiting: 0, too_long: 3 });
});

describe('a body whose client disconnects', () => {
  test('leaves the queue at once', async () => {
    const { start, validate, pool } = poolOf({ jobTimeoutMs: 60_000, queueTimeoutMs: 60_000 });
    const running = start(SLOW, slowBody());
    const waiting = Array.from({ length: 30 }, () => start(SLOW, slowBody()));
    expect(pool.status).toMatchObject({ busy: 1, waiting: 30 });
    for (const { cancel } of waiting) cancel();
    expect(pool.status).toMatchObject({ busy: 1, waiting: 0, abandoned: 30 });
    await Promise.all(waiting);
    // The pool terminates the thread long before the job would finish.
    running.cancel();
    running.cancel();
    expect((await validate(LIST, text([1]))).violations).toEqual([]);
    expect(pool.status).toMatchObject({ waiting: 0, too_long: 0, started: 2 });
  });

  test('does not terminate a thread that is about to finish', async () => {
    const { start, pool } = poolOf({ abandonedGraceMs: 60_000, jobTimeoutMs: 60_000 });
    const result = start(LIST, text([1]));
    result.cancel();
    expect((await result).violations).toEqual([]);
    expect(pool.status).toMatchObject({ threads: 1, busy: 0 });
    result.cancel();
    expect(pool.status.abandoned).toBe(1);
  });
});

describe('the queue', () => {
  test('reserves a thread for other routes', async () => {
    const { start, validate } = poolOf({ jobTimeoutMs: 60_000, queueTimeoutMs: 60_000 });
    const slow = Array.from({ length: 10 }, () => start(SLOW, slowBody(), { route: 'slow' }));
    expect((await validate(LIST, text([1]), { route: 'b' })).violations).toEqual([]);
    expect((await validate(LIST, text([1]), { route: 'c' })).violations).toEqual([]);
    for (const { cancel } of slow) cancel();
    await Promise.all(slow);
  });

  test('starts spare threads while slow schemas of several routes block the others', async () => {
    const { start, validate, pool } = poolOf({ jobTimeoutMs: 60_000, queueTimeoutMs: 60_000, spareAfterMs: 50 });
    const slow = ['a', 'b', 'c'].map((route) => start(SLOW, slowBody(), { route }));
    for (const route of ['d', 'e']) expect((await validate(LIST, text([1]), { route })).violations).toEqual([]);
    expect(pool.status).toMatchObject({ threads: 4, busy: 3 });
    slow.push(start(SLOW, slowBody(), { route: 'f' }));
    const last = start(LIST, text([1]), { route: 'g' });
    await eventually('the spare thread is busy', () => pool.status.busy === 4);
    // Longer than the time after which the pool would start another spare thread.
    await pause(100);
    expect(pool.status).toMatchObject({ threads: 4, busy: 4, waiting: 1 });
    for (const { cancel } of slow) cancel();
    await Promise.all([...slow, last]);
    await eventually('the spare threads end', () => pool.status.threads <= 2);
  });

  test('limits the shares of one client and one route, then refuses all jobs and returns their bodies', async () => {
    const { start, pool } = poolOf({ jobTimeoutMs: 60_000, queueTimeoutMs: 60_000, queueLimit: 16 });
    const jobs = [start(SLOW, slowBody(), { route: 'a' }), start(SLOW, slowBody(), { route: 'b' })];
    const add = (route: string, client: string) => jobs.push(start(SLOW, Buffer.from('[1]'), { route, client }));
    for (let index = 0; index < 9; index += 1) add(`greedy client ${index}`, 'greedy');
    expect(pool.status).toMatchObject({ waiting: 8, refused: { queue_full: 0, queue_share: 1 } });
    for (let index = 0; index < 5; index += 1) add('greedy', `greedy route ${index}`);
    expect(pool.status).toMatchObject({ waiting: 12, refused: { queue_full: 0, queue_share: 2 } });
    for (let index = 0; index < 5; index += 1) add(`route ${index}`, `client ${index}`);
    expect(pool.status).toMatchObject({ waiting: 16, refused: { queue_full: 1, queue_share: 2 } });
    const refused = await jobs.at(-1);
    expect([refused?.overload, refused?.body?.toString()]).toEqual(['queue_full', '[1]']);
    for (const { cancel } of jobs) cancel();
    await Promise.all(jobs);
    expect(pool.status).toMatchObject({ waiting: 0 });
  });

  test('refuses a job that waits for too long', async () => {
    const { start, pool } = poolOf({ jobTimeoutMs: 60_000, queueTimeoutMs: 20 });
    const running = start(SLOW, slowBody());
    const waiting = start(SLOW, Buffer.from('[1]'));
    expect(await waiting).toEqual({ violations: [], body: Buffer.from('[1]'), overload: 'queue_wait' });
    expect(pool.status.refused).toEqual({ queue_full: 0, queue_share: 0, queue_wait: 1 });
    running.cancel();
    await running;
  });
});

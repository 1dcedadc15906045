import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FairQueue, type FairQueueItem } from '../../../src/engine/validation/fair-queue.ts';

interface Job extends FairQueueItem {
  readonly id: number;
}

const any = () => true;

test('routes take turns, and so do the clients of a route', () => {
  const queue = new FairQueue<Job>();
  const jobs: Omit<Job, 'id'>[] = [];
  for (const [route, client, count] of [
    ['a', 'x', 3],
    ['a', 'y', 2],
    ['b', 'x', 2],
  ] as const)
    for (let index = 0; index < count; index += 1) jobs.push({ route, client });
  for (const [index, job] of jobs.entries()) queue.add({ ...job, id: index + 1 });
  const order: string[] = [];
  for (let job = queue.take(any); job !== undefined; job = queue.take(any))
    order.push(`${job.route}${job.client}${job.id}`);
  expect(order).toEqual(['ax1', 'bx6', 'ay4', 'bx7', 'ax2', 'ay5', 'ax3']);
});

test('a route that may not run is skipped', () => {
  const queue = new FairQueue<Job>();
  queue.add({ route: 'a', client: 'x', id: 1 });
  queue.add({ route: 'b', client: 'x', id: 2 });
  expect(queue.hasNext((route) => route === 'c')).toBe(false);
  expect(queue.take((route) => route !== 'a')?.id).toBe(2);
  expect(queue.take((route) => route !== 'a')).toBeUndefined();
  expect(queue.size).toBe(1);
});

test('each job is taken or removed exactly once, in any order of operations', () => {
  const step = fc.record({
    action: fc.constantFrom('add', 'take', 'remove'),
    route: fc.nat(3),
    client: fc.nat(3),
    pick: fc.nat(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = new FairQueue<Job>();
      const waiting: Job[] = [];
      for (const [id, { action, route, client, pick }] of steps.entries()) {
        if (action === 'add') {
          const job = { route: `${route}`, client: `${client}`, id };
          waiting.push(job);
          queue.add(job);
        } else if (action === 'take') {
          const job = queue.take(any);
          expect(job === undefined).toBe(waiting.length === 0);
          if (job !== undefined) waiting.splice(waiting.indexOf(job), 1);
        } else {
          const [job] = waiting.splice(pick % Math.max(1, waiting.length), 1);
          if (job !== undefined) expect([queue.remove(job), queue.remove(job)]).toEqual([true, false]);
        }
        expect(queue.size).toBe(waiting.length);
        for (const name of ['0', '1', '2', '3'])
          expect(queue.countForClient(name)).toBe(waiting.filter((job) => job.client === name).length);
      }
    }),
  );
});

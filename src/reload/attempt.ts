import { planning } from '../load.ts';
import { keepOutside } from '../manifest/files.ts';
import type { Plan } from '../plan/plan.ts';
import { finishInSlices } from '../plan/steps.ts';
import { assembling, type Placed, type ReadingThread, type Unreadable } from './reading-thread.ts';
import type { Place, Seen } from './seen.ts';
import { SELF_TEST_MS } from './self-test.ts';

/** Requests wait no longer than this for a piece of the work. */
const SLICE_MS = 5;

/** What the files are, as far as they can be read. */
export type Made = { readonly seen: Seen } & ({ readonly plan: Plan } | Placed | Unreadable);

/**
 * Reads, compiles and verifies what is saved now, and puts nothing in force. Requests are served meanwhile.
 *
 * @param before what was found the last time
 * @param inForce of which is taken over what did not change
 */
export async function makePlan(thread: ReadingThread, place: Place, before: Seen, inForce: Plan): Promise<Made> {
  const read = await thread.read();
  if ('reason' in read) return { ...read, seen: { ...before, own: '' } };
  const { outside, world } = keepOutside(place.world);
  const { own, findings } = read;
  const form = await finishInSlices(assembling(read), SLICE_MS);
  const planned = await finishInSlices(planning({ form, findings }, world.readFile, inForce), SLICE_MS);
  const files = new Map([...read.outside.files, ...outside.files]);
  const seen = { own, outside: { files, patterns: read.outside.patterns } };
  const { plan } = planned;
  if (plan === undefined) return { ...(await thread.place(planned.findings)), seen };
  if (plan.reload.selfTest === undefined) return { plan, seen };
  const tested = await thread.test(SELF_TEST_MS);
  return tested.problems.length === 0 ? { plan, seen } : { ...tested, seen };
}

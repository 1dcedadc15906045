import { type Planned, planning } from '../load.ts';
import type { Document } from '../manifest/document.ts';
import { keepOutside, type Outside } from '../manifest/files.ts';
import { documentOf } from '../manifest/include.ts';
import type { Form } from '../manifest/read-manifest.ts';
import { secretsAt } from '../manifest/secrets.ts';
import type { Source } from '../manifest/source.ts';
import type { Plan } from '../plan/plan.ts';
import { finishInSlices } from '../plan/steps.ts';
import { assembling, type Placed, type ReadingThread, type Unreadable } from './reading-thread.ts';
import type { Place, Seen } from './seen.ts';

/** Requests wait no longer than this for a piece of the work. */
const SLICE_MS = 5;

/** What the files are, as far as they can be read. */
export type Made = { readonly seen: Seen } & ({ readonly planned: Planned } | Placed | Unreadable);

/**
 * Reads, compiles and verifies what is saved now, and puts nothing in force. Requests are served meanwhile.
 *
 * @param inForce of which is taken over what did not change
 */
export async function makePlan(thread: ReadingThread, place: Place, inForce: Plan): Promise<Made> {
  const read = await thread.read();
  // What it names is unknown then, and will be known once it is back.
  if ('reason' in read) return { ...read, seen: NOTHING };
  const { outside, world } = keepOutside(place.world);
  const { own, findings } = read;
  const form = await finishInSlices(assembling(read), SLICE_MS);
  const { plan, findings: all } = await finishInSlices(planning({ form, findings }, world.readFile, inForce), SLICE_MS);
  const files = new Map([...read.outside.files, ...outside.files]);
  const seen = { own, outside: { files, patterns: read.outside.patterns } };
  if (plan === undefined || form === undefined) return { ...(await thread.place(all)), seen };
  if (plan.reload.selfTest !== undefined) {
    const tested = await thread.test();
    if (tested.problems.length > 0) return { ...tested, seen };
  }
  return { planned: new Read(plan, form, read.sources, seen.outside), seen };
}

const NOTHING: Seen = { own: '', outside: { files: new Map(), patterns: new Map() } };

/** A plan and what it was made of. Where in the texts something stands is seldom asked: they are parsed again for it. */
class Read implements Planned {
  readonly plan: Plan;
  readonly manifest: Planned['manifest'];
  readonly sources: readonly Source[];
  readonly files: Planned['files'];
  readonly patterns: Planned['patterns'];
  readonly secrets: Planned['secrets'];
  readonly problems = [];
  #document: Document | undefined;

  constructor(plan: Plan, { manifest, secrets }: Form, sources: readonly Source[], { files, patterns }: Outside) {
    this.plan = plan;
    this.manifest = manifest;
    this.sources = sources;
    this.files = files;
    this.patterns = patterns;
    this.secrets = secretsAt(secrets);
  }

  get document(): Document {
    this.#document ??= documentOf(this.sources);
    return this.#document;
  }
}

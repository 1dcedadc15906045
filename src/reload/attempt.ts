import { type Planned, planning } from '../load.ts';
import type { Document } from '../manifest/document.ts';
import type { Outside } from '../manifest/files.ts';
import { documentOf } from '../manifest/include.ts';
import type { Form } from '../manifest/read-manifest.ts';
import { secretsAt } from '../manifest/secrets.ts';
import type { Source } from '../manifest/source.ts';
import type { Plan } from '../plan/plan.ts';
import { finishInSlices } from '../plan/steps.ts';
import type { FileText, FileThread } from './file-thread.ts';
import { assembling, type Placed, type ReadingThread, type Unreadable } from './reading-thread.ts';
import type { Seen } from './seen.ts';

/** Requests wait no longer than this for a piece of the work. */
const SLICE_MS = 5;

/** What the files are, as far as they can be read. */
export type Made = { readonly seen: Seen } & ({ readonly planned: Planned } | Placed | Unreadable);

/**
 * Reads, compiles and verifies the saved manifest, and activates nothing. Requests are served meanwhile.
 *
 * @param named the files that the manifest named before: it probably names them still
 * @param active the plan from which unchanged parts are taken over
 */
export async function makePlan(
  thread: ReadingThread,
  files: FileThread,
  named: Iterable<string>,
  active: Plan,
): Promise<Made> {
  const read = await thread.read();
  // The files that it names are unknown then, and will be known once it is back.
  if ('reason' in read) return { ...read, seen: NOTHING };
  const form = await finishInSlices(assembling(read), SLICE_MS);
  const compiled = await compile({ form, findings: read.findings }, files, named, active);
  const { own, outside } = read;
  const seen = {
    own,
    outside: { files: new Map([...outside.files, ...compiled.files]), patterns: outside.patterns },
  };
  if (compiled.plan === undefined || form === undefined) return { ...(await thread.place(compiled.findings)), seen };
  if (compiled.plan.reload.selfTest !== undefined) {
    const tested = await thread.test();
    if (tested.problems.length > 0) return { ...tested, seen };
  }
  return { planned: new Read(compiled.plan, form, read.sources, seen.outside), seen };
}

/**
 * Compiles on this thread, with texts that the thread for files has read. A file that was not read before its text was
 * needed is read then, and the compilation begins again.
 */
async function compile(
  written: Parameters<typeof planning>[0],
  thread: FileThread,
  named: Iterable<string>,
  active: Plan,
) {
  const texts = new Map(await thread.texts([...named]));
  for (;;) {
    const files = new Map<string, string>();
    const missing = new Set<string>();
    const readFile = (path: string): string => {
      const text = texts.get(path);
      if (text === undefined) missing.add(path);
      files.set(path, textHash(text));
      return textOf(text);
    };
    const made = await finishInSlices(planning(written, readFile, active), SLICE_MS);
    if (missing.size === 0) return { ...made, files };
    for (const [path, text] of await thread.texts([...missing])) texts.set(path, text);
  }
}

function textHash(text: FileText | undefined): string {
  return text !== undefined && 'hash' in text ? text.hash : '';
}

/** Throws an error with the code that reading the file gave. */
function textOf(text: FileText | undefined): string {
  if (text !== undefined && 'text' in text) return text.text;
  throw Object.assign(new Error('the file cannot be read'), { code: text?.code ?? 'ENOENT' });
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

import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { type Answer, data, found } from './answer.ts';
import { audit } from './audit.ts';
import type { Call, User } from './call.ts';
import { now, type Store } from './store.ts';

export type JobKind = 'contacts-import' | 'ai-analysis' | 'edm-export';

/** What a job shows beside its id and status. */
export type JobOutput = Readonly<Record<string, unknown>>;

/** One run of a job, perhaps not its first: a restarted one finds in `output` what it saved before. */
export interface JobRun {
  readonly companyId: string;
  readonly input: string;
  readonly output: JobOutput;
  /** Aborted when the sandbox closes; who throws because of it is run again at the next start. */
  readonly signal: AbortSignal;
  save(output: JobOutput): void;
}

/** Does a job and returns its last output. What it throws is the reason the job failed. */
export type Work = (store: Store, run: JobRun) => JobOutput | Promise<JobOutput>;

/** The background jobs: queued, running, completed or failed; one runs at a time, in order of arrival. */
export interface Jobs {
  /** Answers 202 with the job's id. */
  start(user: User, kind: JobKind, input: string): Answer;
  /** Answers with the job of the path's `:job_id`; 404 for another kind or another company. */
  show(call: Call, user: User, kind: JobKind): Answer;
  close(): Promise<void>;
}

/** Starts with what an earlier process left unfinished. */
export function createJobs(store: Store, works: Readonly<Record<JobKind, Work>>): Jobs {
  const closing = new AbortController();
  let last: Promise<void> = Promise.resolve();
  const enqueue = (id: string) => {
    last = last.then(() => runJob(store, works, id, closing.signal));
  };
  const unfinished = "SELECT id FROM jobs WHERE status IN ('queued', 'running') ORDER BY rowid";
  for (const { id } of store.all<{ id: string }>(unfinished)) enqueue(id);
  return {
    start: (user, kind, input) => {
      const id = insertJob(store, user, kind, input);
      enqueue(id);
      return data({ id, status: 'queued' }, 202);
    },
    show: (call, user, kind) => {
      const job = store.one<{ id: string; status: string; output: string }>(
        'SELECT id, status, output FROM jobs WHERE id = ? AND kind = ? AND company_id = ?',
        call.param('job_id'),
        kind,
        user.companyId,
      );
      const { id, status, output } = found(job, 'job');
      return data({ id, status, ...(JSON.parse(output) as JobOutput) });
    },
    close: () => {
      closing.abort();
      return last;
    },
  };
}

function insertJob(store: Store, user: User, kind: JobKind, input: string): string {
  const id = randomUUID();
  return store.transaction(() => {
    const insert = "INSERT INTO jobs VALUES (?, ?, ?, ?, 'queued', '{}', ?)";
    store.run(insert, id, user.companyId, user.email, kind, now());
    store.run('INSERT INTO job_inputs VALUES (?, ?)', id, input);
    audit(store, user, `${kind}.queued`, id);
    return id;
  });
}

interface JobRow {
  readonly company_id: string;
  readonly actor: string;
  readonly kind: JobKind;
  readonly input: string;
  readonly output: string;
}

/** Never throws: the next job waits for this promise. */
async function runJob(store: Store, works: Readonly<Record<JobKind, Work>>, id: string, signal: AbortSignal) {
  await setImmediate();
  if (signal.aborted) return;
  const select = 'SELECT company_id, actor, kind, input, output FROM jobs JOIN job_inputs ON job_id = id WHERE id = ?';
  const job = store.one<JobRow>(select, id);
  if (job === undefined) return;
  const settle = (status: string, output: JobOutput) =>
    store.run('UPDATE jobs SET status = ?, output = ? WHERE id = ?', status, JSON.stringify(output), id);
  let latest = JSON.parse(job.output) as JobOutput;
  const save = (output: JobOutput) => {
    settle('running', output);
    latest = output;
  };
  save(latest);
  const actor = { companyId: job.company_id, email: job.actor };
  try {
    const run: JobRun = { companyId: job.company_id, input: job.input, output: latest, signal, save };
    settle('completed', await works[job.kind](store, run));
    audit(store, actor, `${job.kind}.completed`, id);
  } catch (error) {
    if (signal.aborted) return;
    settle('failed', { ...latest, message: error instanceof Error ? error.message : String(error) });
    audit(store, actor, `${job.kind}.failed`, id);
  }
}

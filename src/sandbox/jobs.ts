import { randomUUID } from 'node:crypto';
import { type Answer, data, found } from './answer.ts';
import { audit } from './audit.ts';
import type { UserCall } from './call.ts';
import { now, type Store } from './store.ts';

const BEAT_MS = 20;

export type JobKind = 'contacts-import' | 'ai-analysis' | 'edm-export';

export interface Job {
  readonly id: string;
  readonly companyId: string;
  readonly kind: JobKind;
  readonly input: string;
  /** What an earlier process saved of it, as JSON. */
  readonly output: string;
  /** Who started it. */
  readonly email: string;
}

/**
 * Does a job step by step; between two of them other requests get their turn. A step yields the output, which the job
 * shows beside its id and status. What it throws is the reason the job failed.
 */
export type Work = (store: Store, job: Job) => Iterator<object>;

/** Puts a job in the queue and answers 202 with its id. */
export function startJob({ store, user }: UserCall, kind: JobKind, input: string): Answer {
  const id = randomUUID();
  const job = { id, company_id: user.companyId, email: user.email, kind, status: 'queued' };
  store.insert('job_input', { job_id: id, input });
  store.insert('job', { ...job, output: '{}', created_at: now() });
  audit(store, user, `${kind}.queued`, id);
  return data({ id, status: 'queued' }, 202);
}

/** Answers with the job of the path's `:id`; 404 for another kind or another company. */
export function showJob(kind: JobKind): (call: UserCall) => Answer {
  return ({ store, id, user }) => {
    const select = 'SELECT status, output FROM job WHERE id = ? AND kind = ? AND company_id = ?';
    const job = store.one<{ status: string; output: string }>(select, id, kind, user.companyId);
    const { status, output } = found(job, 'job');
    return data({ id, status, ...JSON.parse(output) });
  };
}

/**
 * Runs what is queued, one job at a time in order of arrival, and returns how to stop. The queue is the table, so
 * what one process leaves undone the next one does.
 */
export function runJobs(store: Store, works: Readonly<Record<JobKind, Work>>): () => void {
  let run: Run | undefined;
  const beat = setInterval(() => {
    try {
      run ??= nextRun(store, works);
      if (run !== undefined && advance(store, run)) run = undefined;
    } catch {
      // the file cannot be read or written just now: the next beat begins with what it says then
      run = undefined;
    }
  }, BEAT_MS);
  return () => clearInterval(beat);
}

interface Run {
  readonly job: Job;
  readonly steps: Iterator<object>;
}

function nextRun(store: Store, works: Readonly<Record<JobKind, Work>>): Run | undefined {
  const job = store.one<Job>(
    `SELECT id, company_id AS companyId, email, kind, input, output FROM job JOIN job_input ON job_id = id
     WHERE status IN ('queued', 'running') ORDER BY job.rowid LIMIT 1`,
  );
  return job && { job, steps: works[job.kind](store, job) };
}

/** Does one step and tells whether the job is over. Step and output are saved as one: none is done twice. */
function advance(store: Store, { job, steps }: Run): boolean {
  const save = (status: string, output?: object) => {
    const update = 'UPDATE job SET status = ?, output = coalesce(?, output) WHERE id = ?';
    store.run(update, status, JSON.stringify(output) ?? null, job.id);
    if (status !== 'running') audit(store, job, `${job.kind}.${status}`, job.id);
  };
  try {
    return store.transaction(() => {
      const { done = false, value } = steps.next();
      save(done ? 'completed' : 'running', value);
      return done;
    });
  } catch (error) {
    save('failed', { message: error instanceof Error ? error.message : String(error) });
    return true;
  }
}

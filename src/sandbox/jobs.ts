import { randomUUID } from 'node:crypto';
import { recordAuditEvent } from './audit.ts';
import type { AuthenticatedRequest } from './request.ts';
import { dataResponse, requireFound, type SandboxResponse } from './response.ts';
import { now, type Store } from './store.ts';

const POLL_INTERVAL_MS = 20;

export type JobKind = 'contacts-import' | 'ai-analysis' | 'edm-export';

export interface SandboxJob {
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
export type JobHandler = (store: Store, job: SandboxJob) => Iterator<object>;

/** Puts a job in the queue and answers 202 with its id. */
export function enqueueJob({ store, user }: AuthenticatedRequest, kind: JobKind, input: string): SandboxResponse {
  const id = randomUUID();
  const job = { id, company_id: user.companyId, email: user.email, kind, status: 'queued' };
  store.insert('job_input', { job_id: id, input });
  store.insert('job', { ...job, output: '{}', created_at: now() });
  recordAuditEvent(store, user, `${kind}.queued`, id);
  return dataResponse({ id, status: 'queued' }, 202);
}

/** Answers with the job of the path's `:id`; 404 for another kind or another company. */
export function showJob(kind: JobKind): (call: AuthenticatedRequest) => SandboxResponse {
  return ({ store, id, user }) => {
    const select = 'SELECT status, output FROM job WHERE id = ? AND kind = ? AND company_id = ?';
    const job = store.one<{ status: string; output: string }>(select, id, kind, user.companyId);
    const { status, output } = requireFound(job, 'job');
    return dataResponse({ id, status, ...JSON.parse(output) });
  };
}

/**
 * Runs what is queued, one job at a time in order of arrival, and returns how to stop. The queue is the table, so
 * what one process leaves undone the next one does.
 */
export function runJobs(store: Store, works: Readonly<Record<JobKind, JobHandler>>): () => void {
  let run: RunningJob | undefined;
  const beat = setInterval(() => {
    try {
      run ??= nextJob(store, works);
      if (run !== undefined && runStep(store, run)) run = undefined;
    } catch {
      // the file cannot be read or written just now: the next beat begins with what it says then
      run = undefined;
    }
  }, POLL_INTERVAL_MS);
  return () => clearInterval(beat);
}

interface RunningJob {
  readonly job: SandboxJob;
  readonly steps: Iterator<object>;
}

function nextJob(store: Store, works: Readonly<Record<JobKind, JobHandler>>): RunningJob | undefined {
  const job = store.one<SandboxJob>(
    `SELECT id, company_id AS companyId, email, kind, input, output FROM job JOIN job_input ON job_id = id
     WHERE status IN ('queued', 'running') ORDER BY job.rowid LIMIT 1`,
  );
  return job && { job, steps: works[job.kind](store, job) };
}

/** Does one step and tells whether the job is over. Step and output are saved as one: none is done twice. */
function runStep(store: Store, { job, steps }: RunningJob): boolean {
  const save = (status: string, output?: object) => {
    const update = 'UPDATE job SET status = ?, output = coalesce(?, output) WHERE id = ?';
    store.run(update, status, JSON.stringify(output) ?? null, job.id);
    if (status !== 'running') recordAuditEvent(store, job, `${job.kind}.${status}`, job.id);
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

import { randomUUID } from 'node:crypto';
import { recordAuditEvent } from './audit.ts';
import type { AuthenticatedRequest } from './request.ts';
import { dataResponse, requireFound, type SandboxResponse } from './response.ts';
import { minutesFromNow, now, type Store } from './store.ts';

const POLL_INTERVAL_MS = 20;

type JobKind = 'contacts-import' | 'ai-analysis' | 'edm-export';

export interface SandboxJob {
  readonly id: string;
  readonly companyId: string;
  readonly kind: JobKind;
  readonly input: string;
  /** The output of the steps so far, as JSON. */
  readonly output: string;
  /** The address of the user who started the job. */
  readonly email: string;
}

/**
 * Runs a job step by step; requests are served between the steps. Each step yields the output so far, which the job
 * route returns beside the id and the status. If a step throws, the job fails with that message.
 */
type JobHandler = (store: Store, job: SandboxJob) => Iterator<object>;

/** Adds a job to the queue and responds 202 with its id. */
export function enqueueJob({ store, user }: AuthenticatedRequest, kind: JobKind, input: string): SandboxResponse {
  const id = randomUUID();
  const job = { id, company_id: user.companyId, email: user.email, kind, status: 'queued' };
  store.insert('job_input', { job_id: id, input });
  store.insert('job', { ...job, output: '{}', created_at: now() });
  recordAuditEvent(store, user, `${kind}.queued`, id);
  return dataResponse({ id, status: 'queued' }, 202);
}

/** Responds with the job of the path parameter `:id`; 404 for another kind or another company. */
export function showJob(kind: JobKind): (request: AuthenticatedRequest) => SandboxResponse {
  return ({ store, id, user }) => {
    const select = 'SELECT status, output FROM job WHERE id = ? AND kind = ? AND company_id = ?';
    const job = store.one<{ status: string; output: string }>(select, id, kind, user.companyId);
    const { status, output } = requireFound(job, 'job');
    return dataResponse({ id, status, ...JSON.parse(output) });
  };
}

/**
 * Runs jobs one at a time, in order. The queue is a table, so a restarted sandbox continues unfinished jobs. A job takes at least
 * `jobTimeMs`, so that a client can see it: it is queued for a third of this time, then running.
 *
 * @returns a function that stops the queue
 */
export function runJobs(store: Store, handlers: JobHandlers, jobTimeMs: number): () => void {
  let running: RunningJob | undefined;
  const timer = setInterval(() => {
    try {
      const start = "UPDATE job SET status = 'running' WHERE status = 'queued' AND created_at <= ?";
      store.run(start, timeBefore(jobTimeMs / 3));
      running ??= nextJob(store, handlers, jobTimeMs);
      if (running !== undefined && runStep(store, running)) running = undefined;
    } catch {
      // The database is not available. The next interval reads the job again and continues it.
      running = undefined;
    }
  }, POLL_INTERVAL_MS);
  return () => clearInterval(timer);
}

export type JobHandlers = Readonly<Record<JobKind, JobHandler>>;

interface RunningJob {
  readonly job: SandboxJob;
  readonly steps: Iterator<object>;
}

function nextJob(store: Store, handlers: JobHandlers, jobTimeMs: number): RunningJob | undefined {
  const job = store.one<SandboxJob>(
    `SELECT id, company_id AS companyId, email, kind, input, output FROM job JOIN job_input ON job_id = id
     WHERE status = 'running' AND created_at <= ? ORDER BY job.rowid LIMIT 1`,
    timeBefore(jobTimeMs),
  );
  return job && { job, steps: handlers[job.kind](store, job) };
}

function timeBefore(ms: number): string {
  return minutesFromNow(-ms / 60_000);
}

/**
 * Runs one step and returns true if the job has ended. One transaction saves the step and its output, so that no step
 * runs twice.
 */
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

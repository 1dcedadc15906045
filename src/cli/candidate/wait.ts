import { setTimeout as sleep } from 'node:timers/promises';
import { pluralize } from '../../report/text.ts';
import { type FailOn, failuresOf, occurredKinds } from '../change-formats.ts';
import { CommandError, type Terminal } from '../terminal.ts';
import {
  type AdminClient,
  type CandidateBody,
  comparedCount,
  countsOf,
  fetchStatus,
  hasSavedProblem,
  stopError,
  UnreachableError,
} from './admin-client.ts';

/** When a wait ends. At least one of the limits is set. */
interface WaitLimits {
  /** The number of compared requests, since the candidate started. */
  readonly requests: number | undefined;
  readonly forMs: number | undefined;
  readonly failOn: FailOn;
}

/** The first polls are frequent, so that a wait that ends early returns early. */
const FIRST_POLL_MS = 50;
const MAX_POLL_MS = 1_000;
/** A busy or restarting gateway may miss some polls. */
const MAX_SILENCE_MS = 10_000;
const CLEAR_LINE = '\r\x1b[K';

/**
 * Waits until enough requests were compared, the time is over, or a change that must fail has occurred. Throws a `CommandError` if
 * the candidate disappears or changes meanwhile: the counts would be about two manifests. Returns the conditions of `--fail-on` that are
 * true, and whether the time was over before enough requests were compared.
 */
export async function waitForRequests(
  client: AdminClient,
  limits: WaitLimits,
  terminal: Pick<Terminal, 'err' | 'errIsTerminal' | 'stop'>,
  maxSilenceMs = MAX_SILENCE_MS,
) {
  const { requests = Number.POSITIVE_INFINITY, forMs = Number.POSITIVE_INFINITY, failOn } = limits;
  const endMs = performance.now() + forMs;
  let pollMs = FIRST_POLL_MS;
  let status = await fetchStatus(client);
  requireCandidate(status);
  try {
    for (;;) {
      const isTimeOver = performance.now() >= endMs;
      const isEnough = comparedCount(status) >= requests;
      if (isEnough || isTimeOver)
        return { status, failures: failuresOf(failOn, countsOf(status)), isTimeOver: !isEnough };
      const failures = occurredKinds(failOn, countsOf(status));
      if (failures.length > 0 || hasSavedProblem(status)) return { status, failures, isTimeOver: false };
      if (terminal.errIsTerminal) terminal.err(`${CLEAR_LINE}${progressOf(status, requests, endMs)}`);
      await pause(Math.min(pollMs, endMs - performance.now()), terminal.stop);
      pollMs = Math.min(MAX_POLL_MS, 2 * pollMs);
      const next = await pollStatus(client, terminal.stop, maxSilenceMs);
      requireSameCandidate(status, next);
      status = next;
    }
  } finally {
    if (terminal.errIsTerminal) terminal.err(CLEAR_LINE);
  }
}

async function pause(ms: number, stop: AbortSignal): Promise<void> {
  await sleep(Math.max(0, ms), undefined, { signal: stop }).catch(() => undefined);
  if (stop.aborted) throw stopError(stop);
}

/** Fetches the report, again if the gateway does not respond for a moment. */
async function pollStatus(client: AdminClient, stop: AbortSignal, maxSilenceMs: number): Promise<CandidateBody> {
  const endMs = performance.now() + maxSilenceMs;
  for (;;) {
    try {
      return await fetchStatus(client);
    } catch (error) {
      if (!(error instanceof UnreachableError) || performance.now() >= endMs) throw error;
      await pause(FIRST_POLL_MS, stop);
    }
  }
}

function requireCandidate({ state }: CandidateBody): void {
  if (state === 'none')
    throw new CommandError('the gateway has no candidate; start one with: signing-gateway candidate put next.yaml');
}

/** The counts start again with another candidate, with another active manifest and with another process. */
function requireSameCandidate(before: CandidateBody, after: CandidateBody): void {
  const again = 'put the candidate again and wait again';
  if (after.state === 'none')
    throw new CommandError(`the candidate is gone: it was discarded, or the gateway was restarted; ${again}`);
  if (after.hash !== before.hash)
    throw new CommandError(
      `the candidate was replaced while the command waited (${short(before)} by ${short(after)}); wait again`,
    );
  if (after.active_hash !== before.active_hash)
    throw new CommandError('the active manifest changed while the command waited; wait again');
  if (after.since !== before.since || after.requests < before.requests)
    throw new CommandError('the comparison began again while the command waited; wait again');
}

function short({ hash }: CandidateBody): string {
  return hash?.slice(0, 12) ?? 'none';
}

function progressOf(status: CandidateBody, requests: number, endMs: number): string {
  const compared = comparedCount(status);
  const goal = Number.isFinite(requests)
    ? `${compared} of ${pluralize(requests, 'request')}`
    : pluralize(compared, 'request');
  const seconds = Math.max(0, Math.ceil((endMs - performance.now()) / 1_000));
  const left = Number.isFinite(seconds)
    ? `, ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} left`
    : '';
  return `compared: ${goal}, ${status.changed.total} changed, ${status.unknown.total} unknown${left}`;
}

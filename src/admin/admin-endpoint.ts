import type { Gateway } from '../engine/gateway/gateway.ts';
import type { PlannedManifest } from '../engine/load.ts';
import type { AddressOverrides } from '../engine/manifest/source.ts';
import type { LogStatus } from '../process/log/process-log.ts';
import type { Reloader } from '../process/reload/reloader.ts';
import type { WorkerGroup } from '../process/workers/worker-group.ts';
import type { CandidateControl } from '../traffic/candidate/candidate-control.ts';
import type { HttpResponse } from './admin-listener.ts';
import type { AdminMetrics } from './admin-metrics.ts';
import type { CpuBudget } from './cpu-budget.ts';
import type { DescriptorMonitor } from './descriptor-monitor.ts';
import type { ManifestDisplays } from './manifest-display.ts';
import type { RequestEventStreams } from './request-event-streams.ts';
import type { TrafficHistory } from './traffic-history.ts';

/** The parts of the process that the admin API reports and controls. */
export interface AdminContext {
  /** The gateway of worker 0. */
  readonly gateway: Gateway;
  readonly workers: Pick<WorkerGroup, 'status' | 'telemetry'>;
  readonly version: string;
  readonly startedAt: Date;
  /** The addresses of the command line that replace those of the manifest. */
  readonly overrides: AddressOverrides;
  readonly activeManifest: () => PlannedManifest;
  readonly reloader: ReloadControl;
  readonly candidate: Pick<CandidateControl, 'status' | 'prepare' | 'activate' | 'remove'>;
  /** The reloads of the file of `--candidate`; `undefined` without that option. */
  readonly candidateFile: Pick<Reloader, 'path' | 'lastOutcome'> | undefined;
  /** True while the process stops: it finishes its requests and should receive no new ones. */
  readonly isStopping: () => boolean;
  /** False until the code that serves requests is compiled: the first requests take longer. */
  readonly isWarm: () => boolean;
  /** Counts requests that the admin API could not serve. */
  readonly adminMetrics: AdminMetrics;
  readonly descriptors: Pick<DescriptorMonitor, 'status' | 'limit'>;
  /** Returns the state of the writes to the standard streams. */
  readonly standardStreams: () => Readonly<Record<'stdout' | 'stderr', LogStatus>>;
}

/** The resources that all endpoints share. */
export interface AdminResources {
  readonly traffic: TrafficHistory;
  /** Bounds all work except probes and the files of the admin page. */
  readonly cpuBudget: CpuBudget;
  readonly eventStreams: RequestEventStreams;
  readonly displays: ManifestDisplays;
  /** Each explanation runs a gateway in memory. */
  readonly explanations: RunningLimit;
  /** Each load of a candidate starts a thread, which takes 40 MB. */
  readonly candidateLoads: RunningLimit;
}

/** Runs work of which only a few pieces run at the same time. Returns `undefined` if too many are running. */
type RunningLimit = ReturnType<typeof createRunningLimit>;

export function createRunningLimit(max: number) {
  let running = 0;
  return async <Result>(work: () => Promise<Result>): Promise<Result | undefined> => {
    if (running >= max) return undefined;
    running += 1;
    return work().finally(() => {
      running -= 1;
    });
  };
}

/** The part of the reloader that the admin API uses. */
export type ReloadControl = Omit<Reloader, 'isThreadBlocked' | 'close'>;

export interface AdminEndpoint {
  /** An endpoint with GET also responds to HEAD. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** True if callers need no token and no certificate. */
  readonly isPublic?: boolean;
  readonly respond: Respond;
}

export type Respond = (
  request: AdminRequest,
  context: AdminContext,
  resources: AdminResources,
) => AdminResponse | Promise<AdminResponse>;

export interface AdminRequest {
  /** True if the caller sent every required credential. A public endpoint also serves callers without one. */
  readonly isAuthenticated: boolean;
  readonly query: URLSearchParams;
  /** Empty if there is no body. */
  readonly body: Buffer;
  /** The remote address of the connection. */
  readonly peerAddress: string;
}

export interface AdminResponse {
  readonly status: number;
  /** Includes `Content-Type` if there is a body. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * A generator yields a large body in small chunks, each when the client has received the previous ones. A function
   * writes to the response until the client disconnects, and frees its resources when the response closes.
   */
  readonly body: string | Buffer | Generator<string> | ((response: HttpResponse) => void);
}

/** The type of a value after a round trip through JSON. */
export type Json<Value> = Value extends { toJSON(): infer Written }
  ? Written
  : Value extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
    ? Record<string, never>
    : { readonly [Key in keyof Value]: Json<Value[Key]> };

export function largeJsonResponse(body: Generator<string>): AdminResponse {
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body };
}

export function jsonResponse(value: unknown, status = 200): AdminResponse {
  return { status, headers: { 'Content-Type': 'application/json' }, body: `${JSON.stringify(value)}\n` };
}

/** Counts a refusal because of too many requests, and returns the response. @param path the endpoint */
export function busyResponse(metrics: AdminMetrics, path: string, detail: string, retryAfterSeconds = 1) {
  metrics.refused.add({ path });
  return problemDetails(503, detail, { 'Retry-After': String(retryAfterSeconds) });
}

/** Returns an error response with problem details (RFC 9457). */
export function problemDetails(status: number, detail: string, headers: AdminResponse['headers'] = {}): AdminResponse {
  const { body } = jsonResponse({ status, detail });
  return { status, headers: { ...headers, 'Content-Type': 'application/problem+json' }, body };
}

/** Yields the JSON of an object in chunks: at least one member of `head`, then a long list. */
export function* streamJsonWithList(head: object, name: string, items: Iterable<unknown>): Generator<string> {
  yield `${openJsonObject(head)}"${name}":[`;
  let separator = '';
  for (const item of items) {
    yield separator + JSON.stringify(item);
    separator = ',';
  }
  yield ']}\n';
}

/** Returns the JSON of an object without its closing brace, so that more members can follow. */
export function openJsonObject(head: object): string {
  const text = JSON.stringify(head).slice(0, -1);
  return text === '{' ? text : `${text},`;
}

import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Gateway } from '../gateway/gateway.ts';
import type { PlannedManifest } from '../load.ts';
import type { LogStatus } from '../log/log.ts';
import type { Reloader } from '../reload/reloader.ts';
import type { AdminMetrics } from './admin-metrics.ts';
import type { CpuBudget } from './cpu-budget.ts';
import type { DescriptorMonitor } from './descriptor-monitor.ts';
import type { RequestEventStreams } from './request-event-streams.ts';
import type { TrafficHistory } from './traffic-history.ts';

/** What the operators' side tells of. */
export interface AdminContext {
  readonly gateway: Gateway;
  readonly version: string;
  readonly startedAt: Date;
  /** The plan in force, with what it was made of. */
  readonly activeManifest: () => PlannedManifest;
  readonly reloader: ReloadControl;
  /** The process was asked to stop: it still serves, and wants no more requests. */
  readonly isStopping: () => boolean;
  /** Counts requests that the admin API could not serve. */
  readonly adminMetrics: AdminMetrics;
  readonly descriptors: Pick<DescriptorMonitor, 'status' | 'limit'>;
  /** How writing to the standard streams goes. */
  readonly standardStreams: () => Readonly<Record<'stdout' | 'stderr', LogStatus>>;
}

/** Shared by the endpoints of one listener. */
export interface AdminResources {
  readonly traffic: TrafficHistory;
  /** For all work but probes and the files of the page. */
  readonly cpuBudget: CpuBudget;
  readonly eventStreams: RequestEventStreams;
}

/** What is told of reloads, and who makes one. */
export type ReloadControl = Pick<
  Reloader,
  | 'lastOutcome'
  | 'lastActivatedAt'
  | 'keysNeedingRestart'
  | 'counts'
  | 'hash'
  | 'reload'
  | 'hungThreadCount'
  | 'watchError'
>;

export interface AdminEndpoint {
  /** HEAD is answered where GET is. */
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Answers those too who show no token and no certificate. */
  readonly isPublic?: boolean;
  readonly respond: (
    call: AdminRequest,
    operated: AdminContext,
    serving: AdminResources,
  ) => AdminResponse | Promise<AdminResponse>;
}

export interface AdminRequest {
  /** The caller showed all that is asked for; of those whom an open endpoint answers, not all have. */
  readonly isAuthenticated: boolean;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Empty when there is none. */
  readonly body: Buffer;
  /** The address that the connection came from. */
  readonly peerAddress: string;
}

export interface AdminResponse {
  readonly status: number;
  /** `Content-Type` among them where there is a body. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * A generator makes a body that may be large, in small pieces, each when the client has taken those before it. A function
   * writes for as long as the client listens; it ends what it began when the response closes.
   */
  readonly body: string | Buffer | Generator<string> | ((response: ServerResponse) => void);
}

/** What a value is to those who are sent it as JSON. A member that is `undefined` is left out. */
export type Json<Value> = Value extends { toJSON(): infer Written }
  ? Written
  : Value extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
    ? Record<string, never>
    : { readonly [Key in keyof Value]: Json<Value[Key]> };

/** A response with a body that may be large. */
export function largeJsonResponse(body: Generator<string>): AdminResponse {
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body };
}

export function jsonResponse(value: unknown, status = 200): AdminResponse {
  return { status, headers: { 'Content-Type': 'application/json' }, body: `${JSON.stringify(value)}\n` };
}

/** What the operators' side refuses (RFC 9457). */
export function problemDetails(status: number, detail: string, headers: AdminResponse['headers'] = {}): AdminResponse {
  const { body } = jsonResponse({ status, detail });
  return { status, headers: { ...headers, 'Content-Type': 'application/problem+json' }, body };
}

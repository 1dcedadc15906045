import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Gateway } from '../gateway/gateway.ts';
import type { Planned } from '../load.ts';
import type { LogStatus } from '../log.ts';
import type { Reloader } from '../reload.ts';
import type { AdminCounts } from './admin-counts.ts';
import type { DecisionStreams } from './decision-streams.ts';
import type { Descriptors } from './descriptors.ts';
import type { Traffic } from './traffic.ts';
import type { WorkShare } from './work-share.ts';

/** What the operators' side tells of. */
export interface Operated {
  readonly gateway: Gateway;
  readonly version: string;
  readonly startedAt: Date;
  /** The plan in force, with what it was made of. */
  readonly planned: () => Planned;
  readonly reloader: Reloading;
  /** The process was asked to stop: it still serves, and wants no more requests. */
  readonly isStopping: () => boolean;
  /** Counts requests that the admin API could not serve. */
  readonly counts: AdminCounts;
  readonly descriptors: Pick<Descriptors, 'status'>;
  /** How writing to the standard streams goes. */
  readonly streams: () => Readonly<Record<'stdout' | 'stderr', LogStatus>>;
}

/** Shared by the endpoints of one listener. */
export interface Serving {
  readonly traffic: Traffic;
  /** For all work but probes and the files of the page. */
  readonly share: WorkShare;
  readonly streams: DecisionStreams;
}

/** What is told of reloads, and who makes one. */
export type Reloading = Pick<
  Reloader,
  'last' | 'lastSuccessAt' | 'needsRestart' | 'counts' | 'hash' | 'reload' | 'hungThreads' | 'watchError'
>;

export interface Endpoint {
  /** HEAD is answered where GET is. */
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Answers those too who show no token and no certificate. */
  readonly isOpen?: boolean;
  readonly answer: (call: Call, operated: Operated, serving: Serving) => Answer | Promise<Answer>;
}

export interface Call {
  /** The caller showed all that is asked for; of those whom an open endpoint answers, not all have. */
  readonly isKnown: boolean;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Empty when there is none. */
  readonly body: Buffer;
  /** The address that the connection came from. */
  readonly peer: string;
}

export interface Answer {
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
export function largeJson(body: Generator<string>): Answer {
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body };
}

export function json(value: unknown, status = 200): Answer {
  return { status, headers: { 'Content-Type': 'application/json' }, body: `${JSON.stringify(value)}\n` };
}

/** What the operators' side refuses (RFC 9457). */
export function fault(status: number, detail: string, headers: Answer['headers'] = {}): Answer {
  const { body } = json({ status, detail });
  return { status, headers: { ...headers, 'Content-Type': 'application/problem+json' }, body };
}

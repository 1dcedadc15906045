import type { CountersNotice } from '../../engine/gateway/telemetry/route-metrics.ts';
import type { CompileInput } from '../../engine/load.ts';
import type { LogBlock } from '../../engine/log/forwarded-log.ts';
import type { ListenAddress } from '../../engine/settings/address.ts';
import type { CachedRejection, CachedToken, KeyRequest, KeyResponse } from '../../engine/tokens/verifier.ts';
import type { WarmUpTraffic } from '../../prove/offline/warm-up.ts';
import type { ResultBatch } from '../../traffic/candidate/candidate-results.ts';
import type { ComparisonDefinition } from '../../traffic/candidate/comparing-workers.ts';
import type { RequestEventBatch } from './request-event-batches.ts';
import type { ThreadFigures } from './thread-figures.ts';

/** The buffers of shared memory by name. */
export type SharedBuffers = ReadonlyMap<string, SharedArrayBuffer>;

/** The data that a worker starts with. */
export interface WorkerSetup {
  readonly index: number;
  readonly count: number;
  readonly version: string;
  readonly descriptorLimit: number;
  /** The name of the bus of all workers. */
  readonly busName: string;
  readonly buffers: SharedBuffers;
  readonly input: CompileInput;
  /** The folder of compiled code, if the process has one. */
  readonly compileCacheFolder: string | undefined;
}

/** The requests that a worker handles. */
export type ServingRequests = {
  /** Listens, and resolves once the worker accepts connections. */
  readonly listen: { readonly value: ListenAddress; readonly result: unknown };
  /** Compiles another plan. Activates nothing. */
  readonly prepare: {
    readonly value: { readonly input: CompileInput; readonly buffers: SharedBuffers };
    readonly result: unknown;
  };
  /** Activates the prepared plan with this hash. */
  readonly activate: { readonly value: string; readonly result: unknown };
  /** Reports bytes of the log that no longer wait to be written. */
  readonly logWritten: { readonly value: number; readonly result: unknown };
  /** Sends the events of requests from now on, or no longer. */
  readonly sendEvents: { readonly value: boolean; readonly result: unknown };
  /** Compiles a candidate. */
  readonly prepareCandidate: {
    readonly value: { readonly input: CompileInput; readonly buffers: SharedBuffers };
    readonly result: unknown;
  };
  /** Compares requests with the candidate that was compiled last, or with none. */
  readonly compare: { readonly value: ComparisonDefinition | undefined; readonly result: unknown };
  /** Serves requests in memory, so that the first ones of clients are not slow. */
  readonly warmUp: { readonly value: WarmUpTraffic; readonly result: unknown };
  readonly drain: { readonly value: undefined; readonly result: unknown };
  /** Closes the gateway. The value is the grace period in milliseconds. */
  readonly close: { readonly value: number; readonly result: unknown };
};

/** A request that the main thread sends. */
export type ServingRequest = {
  readonly [Name in keyof ServingRequests]: readonly [name: Name, value: ServingRequests[Name]['value']];
}[keyof ServingRequests];

/** The requests that the main thread handles. */
export type MainRequests = {
  /** The worker has compiled its plan and can listen. */
  readonly ready: { readonly value: undefined; readonly result: unknown };
  /** Returns the keys of the verifier with a key. */
  readonly signingKeys: {
    readonly value: { readonly verifier: string; readonly request: KeyRequest };
    readonly result: KeyResponse;
  };
  /** Returns the result for a token. `clientKey` is that of the client that sent it. */
  readonly verifyToken: {
    readonly value: { readonly verifier: string; readonly token: string; readonly clientKey: string | undefined };
    readonly result: CachedToken | CachedRejection;
  };
  /** Writes log lines. `logWritten` follows. */
  readonly log: { readonly value: LogBlock; readonly result: unknown };
  /** Adds an array of counters to the metrics, or keeps the counts of one that the worker no longer writes. */
  readonly counters: { readonly value: CountersNotice; readonly result: unknown };
  /** The latest figures of the worker. */
  readonly figures: { readonly value: ThreadFigures; readonly result: unknown };
  /** Requests that have ended, while somebody listens. */
  readonly events: { readonly value: RequestEventBatch; readonly result: unknown };
  /** Adds results of the comparison with this id. */
  readonly results: { readonly value: { readonly id: number; readonly batch: ResultBatch }; readonly result: unknown };
};

import type { CompileInput } from '../../engine/load.ts';
import type { ListenAddress } from '../../engine/settings/address.ts';
import type { NetworkVerifier } from '../../engine/tokens/verifier.ts';
import type { WarmUpTraffic } from '../../prove/offline/warm-up.ts';
import type { ResultBatch } from '../../traffic/candidate/candidate-results.ts';
import type { ComparisonDefinition } from '../../traffic/candidate/comparing-workers.ts';
import type { LogBlock } from '../log/forwarded-log.ts';
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
  readonly busName: string;
  readonly buffers: SharedBuffers;
  /** Grows while the event loop of the worker runs. 0 until it has started. */
  readonly heartbeat: Int32Array<SharedArrayBuffer>;
  readonly input: CompileInput;
}

/** A request whose result has no value. */
interface Notice<Value> {
  readonly value: Value;
  readonly result: unknown;
}

/** The requests that a worker handles. */
export type ServingRequests = {
  /** Listens, and resolves once the worker accepts connections. */
  readonly listen: Notice<ListenAddress>;
  /** Compiles another plan. Activates nothing. */
  readonly prepare: Notice<{ readonly input: CompileInput; readonly buffers: SharedBuffers }>;
  /** Activates the prepared plan with this hash. */
  readonly activate: Notice<string>;
  /** Reports bytes of the log that no longer wait to be written. */
  readonly logWritten: Notice<number>;
  /** Sends the events of requests from now on, or no longer. */
  readonly sendEvents: Notice<boolean>;
  /** Compiles a candidate. */
  readonly prepareCandidate: Notice<{ readonly input: CompileInput; readonly buffers: SharedBuffers }>;
  /** Compares requests with the candidate that was compiled last, or with none. */
  readonly compare: Notice<ComparisonDefinition | undefined>;
  /** Serves requests in memory, so that the first ones of clients are not slow. */
  readonly warmUp: Notice<WarmUpTraffic>;
  readonly drain: Notice<undefined>;
  /** Closes the gateway. The value is the grace period in milliseconds. */
  readonly close: Notice<number>;
};

/** A request that the main thread sends. */
export type ServingRequest = {
  readonly [Name in keyof ServingRequests]: readonly [name: Name, value: ServingRequests[Name]['value']];
}[keyof ServingRequests];

/** The part of a verifier that sends requests to an identity service. */
export type VerifierNetwork = NetworkVerifier;

/** The requests that the main thread handles. */
export type MainRequests = {
  /** The worker has compiled its plan and can listen. */
  readonly ready: Notice<undefined>;
  /** Returns the keys of the verifier with a key. */
  readonly signingKeys: {
    readonly value: { readonly verifier: string; readonly request: Parameters<VerifierNetwork['keys']>[0] };
    readonly result: Awaited<ReturnType<VerifierNetwork['keys']>>;
  };
  /** Returns the result for a token. `clientKey` is that of the client that sent it. */
  readonly verifyToken: {
    readonly value: { readonly verifier: string; readonly token: string; readonly clientKey: string | undefined };
    readonly result: Awaited<ReturnType<VerifierNetwork['verify']>>;
  };
  /** Writes log lines. `logWritten` follows. */
  readonly log: Notice<LogBlock>;
  /** The latest figures of the worker. */
  readonly figures: Notice<ThreadFigures>;
  /** Requests that have ended, while somebody listens. */
  readonly events: Notice<RequestEventBatch>;
  /** Adds results of the comparison with this id. */
  readonly results: Notice<{ readonly id: number; readonly batch: ResultBatch }>;
};

import type { CompileInput } from '../load.ts';
import type { ListenAddress } from '../plan/settings/address.ts';

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
  /** Writes log lines. */
  readonly log: { readonly value: string; readonly result: unknown };
};

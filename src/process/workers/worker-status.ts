/** The workers and their failures. */
export interface WorkerStatus {
  /** The number of workers that serve, of `count`. The main thread is one of them. */
  readonly serving: number;
  readonly count: number;
  /** Workers that ended unexpectedly. */
  readonly failures: number;
  /** Why the last one ended, and when; `undefined` if none did. */
  readonly lastFailure: { readonly reason: string; readonly at: Date } | undefined;
}

import type { StoreFailureReason } from './redis/store-error.ts';

/** `connecting`: there was no connection yet. `down`: requests do not wait for the store until it responds again. */
export type StoreState = 'connecting' | 'up' | 'down';

/** The state of a store of the active plan. */
export interface StoreStatus {
  readonly id: string;
  readonly state: StoreState;
  /** Milliseconds since the Unix epoch at which the state changed. */
  readonly since: number;
  /** The reason while the state is `down`. */
  readonly reason: StoreFailureReason | undefined;
  /** Decisions that failed or came too late, and attempts to connect that failed, by reason. */
  readonly failures: ReadonlyMap<StoreFailureReason, number>;
  /** Decisions that were made without the store, or refused because of it. */
  readonly decisionsWithout: number;
  /** Decisions that wait for the store. */
  readonly pending: number;
}

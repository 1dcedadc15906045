import type { BufferParts } from '../../shared-memory/buffer-parts.ts';
import { HASH_KEY_LENGTH } from '../../shared-memory/keyed-hash.ts';
import { clientSetLength } from './client-set.ts';
import { type StreakMemory, streakMemory } from './failure-streak.ts';
import { type RecentClientsMemory, recentClientsMemory } from './recent-clients.ts';

/** The settings of a breaker: when it opens, and how it tries the service again. */
export interface BreakerRule {
  /** Consecutive failures that open it. */
  readonly failures: number;
  /** The time after it opens in which it lets no request through. */
  readonly pauseMs: number;
  /** The most failures that count for one client while several clients use the service. Default: half of `failures`. */
  readonly failuresPerClient?: number;
  /** The time between the first trial and the second. It doubles with each trial, up to `pauseMs`. Default: one second. */
  readonly trialMs?: number;
  /** True if clients whose failures opened it get a trial after all others. */
  readonly isTrialForOthersFirst?: boolean;
}

/** Limits the memory for clients that had a trial. */
const MAX_TRIAL_CLIENTS = 256;

/** The indexes of `BreakerMemory.cells` and `BreakerMemory.times`. */
export const CELLS = { lock: 0, isOpen: 1, trials: 2, openings: 3, trialWorker: 4, length: 5 } as const;
export const TIMES = { openUntil: 0, nextTrialAt: 1, length: 2 } as const;

/** The state of a breaker, which several threads may share. Zeros are a closed breaker. */
export interface BreakerMemory {
  readonly cells: Int32Array;
  readonly times: Float64Array;
  readonly hashKey: Int32Array;
  readonly streak: StreakMemory;
  readonly clients: RecentClientsMemory;
  readonly triedClients: Int32Array;
}

export function breakerMemory(parts: BufferParts, { failures }: BreakerRule): BreakerMemory {
  return {
    cells: parts.int32(CELLS.length),
    times: parts.float64(TIMES.length),
    hashKey: parts.int32(HASH_KEY_LENGTH),
    streak: streakMemory(parts, failures),
    clients: recentClientsMemory(parts),
    triedClients: parts.int32(clientSetLength(MAX_TRIAL_CLIENTS)),
  };
}

/** The number of requests with each outcome of a rate limit. Each request is in exactly one of the first five. */
export interface LimitCounts {
  /** Within the limit. */
  allowed: number;
  /** Over the limit, and refused. */
  refused: number;
  /** Over the limit, and forwarded because of `mode: report`. */
  reported: number;
  /** Without the key, with `missing: skip` or `mode: report`. */
  skipped: number;
  /** Refused because the key was missing, or because the store failed. */
  undecided: number;
  /** Allowed, and taken back because the response was no failure, or another limit refused the request. */
  released: number;
  /** Counted by this process because the store failed. */
  fallback: number;
}

export function createLimitCounts(): LimitCounts {
  return { allowed: 0, refused: 0, reported: 0, skipped: 0, undecided: 0, released: 0, fallback: 0 };
}

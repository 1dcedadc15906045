import type { RateLimit } from './rate-limit.ts';

/** Returns a text that is equal for limits that count and refuse alike. */
export function limitDefinition({ failures, store, ...limit }: RateLimit): string {
  return JSON.stringify({ ...limit, failures: failures && [...failures].sort(), store: store?.key });
}

import type { DiffLimit, LimitPair } from '../rate-limit-pairs.ts';

/** The key of a rate limit that changed, and the effect of the change. */
type LimitChange = [key: string, message: string];

/** Yields the changes after which a rate limit refuses fewer requests. */
export function* loosenings({ old, next }: LimitPair): Generator<LimitChange> {
  const [before, now] = [old.limit, next.limit];
  if (now.intervalMs < before.intervalMs || now.burst > before.burst) yield ['allow', rateMessage(old, next)];
  const uncounted = statusesOnlyIn(before.failures, now.failures);
  if (uncounted !== undefined) yield ['count', `no longer counts ${uncounted}`];
  if (before.missing === 'refuse' && now.missing === 'skip')
    yield ['missing', 'now skips requests without its key (it refused them)'];
  if (before.store !== undefined && now.store === undefined)
    yield ['store', 'is now counted by each gateway alone (the gateways shared its counters)'];
}

/** Yields the changes after which a rate limit refuses more requests. */
export function* tightenings({ old, next }: LimitPair): Generator<LimitChange> {
  const [before, now] = [old.limit, next.limit];
  if (now.intervalMs > before.intervalMs || now.burst < before.burst) yield ['allow', rateMessage(old, next)];
  const counted = statusesOnlyIn(now.failures, before.failures);
  if (counted !== undefined) yield ['count', `now counts ${counted}`];
  if (before.missing === 'skip' && now.missing === 'refuse')
    yield ['missing', 'now refuses requests without its key (it skipped them)'];
  if (before.store === undefined && now.store !== undefined)
    yield ['store', 'now shares its counters with other gateways (each gateway counted alone)'];
}

function rateMessage(old: DiffLimit, next: DiffLimit): string {
  return `now allows ${rateText(next)} (was ${rateText(old)})`;
}

function rateText({ entry: { allow, burst } }: DiffLimit): string {
  return burst === undefined ? allow : `${allow}, at most ${burst} at once`;
}

/** Describes the responses that only the first list counts. `undefined` stands for a list that counts every request. */
function statusesOnlyIn(
  one: ReadonlySet<number> | undefined,
  other: ReadonlySet<number> | undefined,
): string | undefined {
  if (other === undefined) return undefined;
  if (one === undefined) return 'requests with other responses than failures';
  const statuses = [...one].filter((status) => !other.has(status)).sort();
  return statuses.length === 0 ? undefined : `responses with ${statuses.join(', ')}`;
}

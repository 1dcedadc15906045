import type { ManifestChange } from './manifest-change.ts';
import type { Proposal } from './proposal.ts';
import { evidenceOf, type Round } from './round.ts';

/** Proposes to enforce the rate limits that only report, and reported nothing. Every report has a line, also in a sampled log. */
export function* proposeRateLimits(round: Round): Generator<Proposal> {
  const { state, usage } = round;
  for (const [name, entry] of Object.entries(state.loaded.manifest.rateLimits)) {
    if (entry.mode !== 'report') continue;
    const uses = state.uses.filter((use) => use.entry.rateLimits?.includes(name));
    const isOver = uses.some(({ origin }) => usage.overLimit.has(origin));
    if (isOver || !uses.some(({ groups }) => groups.length > 0)) continue;
    const place = { path: ['rateLimits', name] };
    const changes: ManifestChange[] = [{ change: 'remove', place, key: 'mode' }];
    if (entry.reportUntil !== undefined) changes.push({ change: 'remove', place, key: 'reportUntil' });
    yield {
      id: `rate-limit/${name}`,
      kind: 'rate-limit',
      message: `the rate limit "${name}" would have refused no request; enforce it`,
      route: undefined,
      path: ['rateLimits', name, 'mode'],
      changes,
      ...evidenceOf(round, ...uses),
    };
  }
}

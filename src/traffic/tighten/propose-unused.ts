import { createLintContext } from '../../check/lint/lint-context.ts';
import type { Rule } from '../../check/lint/rule.ts';
import { rateLimitUnused } from '../../check/lint/rules/rate-limit-unused.ts';
import { schemaUnused } from '../../check/lint/rules/schema-unused.ts';
import { storeUnused } from '../../check/lint/rules/store-unused.ts';
import { upstreamUnused } from '../../check/lint/rules/upstream-unused.ts';
import type { PlannedManifest } from '../../engine/load.ts';
import type { Path } from '../../engine/problem/finding.ts';
import type { Proposal } from './proposal.ts';
import type { Round } from './round.ts';

/** The rules that find definitions without a use, with the noun of each. */
const UNUSED_RULES: readonly (readonly [rule: Rule, noun: string])[] = [
  [upstreamUnused, 'upstream'],
  [rateLimitUnused, 'rate limit'],
  [storeUnused, 'store'],
  [schemaUnused, 'schema'],
];

interface UnusedDefinition {
  readonly path: Path;
  readonly noun: string;
}

/** Proposes to remove the definitions that lost their last use by earlier proposals. */
export function* proposeUnused({ state, usage }: Round, first: PlannedManifest): Generator<Proposal> {
  const before = new Set([...findUnused(first)].map(({ path }) => path.join('/')));
  const { from, to, logs } = usage.all;
  for (const { path, noun } of findUnused(state.loaded)) {
    if (before.has(path.join('/'))) continue;
    yield {
      id: `unused/${path.join('/')}`,
      kind: 'unused',
      message: `nothing uses the ${noun} "${path[1]}" after the other proposals; remove it`,
      route: undefined,
      path,
      changes: [{ change: 'remove', place: { path } }],
      evidence: { requests: 0, callers: 0, hasMoreCallers: false, from, to, logs },
      refused: 0,
    };
  }
}

function* findUnused(loaded: PlannedManifest): Generator<UnusedDefinition> {
  const context = createLintContext(loaded, '');
  for (const [{ find }, noun] of UNUSED_RULES)
    for (const { location } of find?.(context) ?? []) if ('path' in location) yield { path: location.path, noun };
}

import { sumEvidence } from './evidence.ts';
import type { Hint } from './proposal.ts';
import type { TightenState } from './tighten-state.ts';

/** Finds public routes to which every request brought a bearer token. The gateway does not verify it, so nothing is certain. */
export function* findHints({ uses }: TightenState): Generator<Hint> {
  for (const { route, groups } of uses) {
    if (route.access !== 'public' || route.login !== undefined || groups.length === 0) continue;
    if (groups.some(({ credential }) => credential !== 'bearer')) continue;
    yield {
      route: route.id,
      message: `every request to the public route "${route.id}" had a bearer token; consider access: protected`,
      evidence: sumEvidence(groups.map(({ counter }) => counter)),
    };
  }
}

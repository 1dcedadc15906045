import { type Evidence, sumEvidence } from './evidence.ts';
import type { RouteUse, TightenState } from './tighten-state.ts';
import type { Usage } from './usage.ts';

/** One search for proposals: the manifest with all earlier proposals, and the logged requests. */
export interface Round {
  readonly state: TightenState;
  readonly usage: Usage;
}

/** Returns the evidence for a route. Without a request, its span is that of the logs. */
export function evidenceOf({ usage }: Round, ...uses: readonly RouteUse[]): { evidence: Evidence; refused: number } {
  const evidence = sumEvidence(uses.flatMap(({ groups }) => groups.map(({ counter }) => counter)));
  const origins = new Set(uses.map(({ origin }) => origin));
  const refused = sumEvidence([...origins].flatMap((origin) => usage.refused.get(origin) ?? [])).requests;
  const { from, to, logs } = usage.all;
  return { evidence: evidence.from === undefined ? { ...evidence, from, to, logs } : evidence, refused };
}

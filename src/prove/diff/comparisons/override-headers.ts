import { foldHeaderName } from '../../../engine/header-names.ts';
import type { Comparison, DiffContext, DiffFinding } from '../difference.ts';
import { forwardedWitness } from '../witnesses/forwarded-request.ts';
import { findingAtKey, type MatchedRoutePair, matchedRoutes } from './matched-routes.ts';

export const headerOverrideKept: Comparison = {
  id: 'header-override-kept',
  severity: 'error',
  description: 'The gateway forwards headers that may override the method, path, host or scheme of a request.',
  find: (sides) => changedHeaders(sides, ({ from, to }) => [from, to], 'now forwards these headers'),
};

export const headerOverrideDropped: Comparison = {
  id: 'header-override-dropped',
  severity: 'info',
  description: 'The gateway drops headers that may override the method, path, host or scheme of a request.',
  find: (sides) => changedHeaders(sides, ({ from, to }) => [to, from], 'now drops these headers'),
};

type Route = MatchedRoutePair['from'];

function* changedHeaders(
  sides: DiffContext,
  inOrder: (pair: MatchedRoutePair) => [less: Route, more: Route],
  message: string,
): Generator<DiffFinding> {
  for (const pair of matchedRoutes(sides)) {
    const [less, more] = inOrder(pair);
    const kept = new Set(keptHeaders(less).map(foldHeaderName));
    const names = keptHeaders(more).filter((name) => !kept.has(foldHeaderName(name)));
    const [first] = names;
    if (first === undefined) continue;
    const witness = forwardedWitness(sides, pair, [first, 'x']);
    const redacted = more.redactedEntry.requestHeaders?.keep ?? [];
    const printed = names.map((name) => redacted[keptHeaders(more).indexOf(name)] ?? name);
    yield findingAtKey(pair, 'requestHeaders', `${message}: ${printed.join(', ')}`, witness);
  }
}

function keptHeaders({ entry }: Route): readonly string[] {
  return entry.requestHeaders?.keep ?? [];
}

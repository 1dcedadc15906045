import { foldHeaderName } from '../../../engine/header-names.ts';
import type { Comparisons, DiffContext, DiffFinding, MatchedRoutePair } from '../difference.ts';
import { forwardedWitness } from '../witnesses/forwarded-request.ts';
import { findingAtKey, matchedRoutes } from './matched-routes.ts';

export const overrideHeaderComparisons: Comparisons = {
  'header-override-kept': {
    severity: 'error',
    description: 'The gateway forwards headers that may override the method, path, host or scheme of a request.',
    find: (sides) => changedHeaders(sides, ({ from, to }) => [from, to], 'now forwards these headers'),
  },
  'header-override-dropped': {
    severity: 'info',
    description: 'The gateway drops headers that may override the method, path, host or scheme of a request.',
    find: (sides) => changedHeaders(sides, ({ from, to }) => [to, from], 'now drops these headers'),
  },
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

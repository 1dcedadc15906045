import type { RouteEntry } from '../../manifest/manifest.generated.ts';
import type { Comparison, DiffContext, DiffFinding } from '../difference.ts';
import { findingAtKey, matchedRoutes } from './matched-routes.ts';

export const headerOverrideKept: Comparison = {
  id: 'header-override-kept',
  severity: 'warning',
  description: 'Headers that may override the method, path, host or scheme of a request pass.',
  find: (sides) => changedHeaders(sides, ({ from, to }) => [from, to], 'lets these headers through now'),
};

export const headerOverrideDropped: Comparison = {
  id: 'header-override-dropped',
  severity: 'info',
  description: 'Headers that may override the method, path, host or scheme of a request are dropped.',
  find: (sides) => changedHeaders(sides, ({ from, to }) => [to, from], 'drops these headers now'),
};

type EntryPair = Readonly<Record<'from' | 'to', RouteEntry>>;

function* changedHeaders(
  sides: DiffContext,
  inOrder: (entries: EntryPair) => [without: RouteEntry, having: RouteEntry],
  message: string,
): Generator<DiffFinding> {
  for (const pair of matchedRoutes(sides)) {
    const [without, having] = inOrder({ from: pair.from.entry, to: pair.to.entry }).map(keptHeaders) as [
      string[],
      string[],
    ];
    const names = having.filter((name) => !without.includes(name));
    if (names.length > 0) yield findingAtKey(pair, 'requestHeaders', `${message}: ${names.join(', ')}`);
  }
}

function keptHeaders({ requestHeaders }: RouteEntry): readonly string[] {
  return requestHeaders?.keep ?? [];
}

import type { RouteEntry } from '../../manifest/manifest.generated.ts';
import type { Comparison, DiffContext, DiffFinding } from '../difference.ts';
import { findingAtKey, matchedRoutes } from './matched-routes.ts';

export const headerOverrideKept: Comparison = {
  id: 'header-override-kept',
  severity: 'warning',
  description: 'The gateway forwards headers that may override the method, path, host or scheme of a request.',
  find: (sides) => changedHeaders(sides, ({ from, to }) => [from, to], 'now forwards these headers'),
};

export const headerOverrideDropped: Comparison = {
  id: 'header-override-dropped',
  severity: 'info',
  description: 'The gateway drops headers that may override the method, path, host or scheme of a request.',
  find: (sides) => changedHeaders(sides, ({ from, to }) => [to, from], 'now drops these headers'),
};

type EntryPair = Readonly<Record<'from' | 'to', RouteEntry>>;

function* changedHeaders(
  sides: DiffContext,
  inOrder: (entries: EntryPair) => [less: RouteEntry, more: RouteEntry],
  message: string,
): Generator<DiffFinding> {
  for (const pair of matchedRoutes(sides)) {
    const [less, more] = inOrder({ from: pair.from.entry, to: pair.to.entry }).map(keptHeaders) as [string[], string[]];
    const names = more.filter((name) => !less.includes(name));
    if (names.length > 0) yield findingAtKey(pair, 'requestHeaders', `${message}: ${names.join(', ')}`);
  }
}

function keptHeaders({ requestHeaders }: RouteEntry): readonly string[] {
  return requestHeaders?.keep ?? [];
}

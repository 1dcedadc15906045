import type { RouteEntry } from '../../manifest/manifest.generated.ts';
import type { Comparison, Found, Sides } from '../difference.ts';
import { atKey, successions } from './changed-routes.ts';

export const overrideKept: Comparison = {
  id: 'header-override-kept',
  severity: 'warning',
  what: 'Headers that may override the method, path, host or scheme of a request pass.',
  find: (sides) => changed(sides, ({ from, to }) => [from, to], 'lets these headers through now'),
};

export const overrideDropped: Comparison = {
  id: 'header-override-dropped',
  severity: 'info',
  what: 'Headers that may override the method, path, host or scheme of a request are dropped.',
  find: (sides) => changed(sides, ({ from, to }) => [to, from], 'drops these headers now'),
};

type Entries = Readonly<Record<'from' | 'to', RouteEntry>>;

function* changed(
  sides: Sides,
  inOrder: (entries: Entries) => [without: RouteEntry, having: RouteEntry],
  message: string,
): Generator<Found> {
  for (const pair of successions(sides)) {
    const [without, having] = inOrder({ from: pair.from.entry, to: pair.to.entry }).map(keptOf) as [string[], string[]];
    const names = having.filter((name) => !without.includes(name));
    if (names.length > 0) yield atKey(pair, 'requestHeaders', `${message}: ${names.join(', ')}`);
  }
}

function keptOf({ requestHeaders }: RouteEntry): readonly string[] {
  return requestHeaders?.keep ?? [];
}

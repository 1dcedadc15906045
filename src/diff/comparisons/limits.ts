import { sizeBytes } from '../../manifest/units.ts';
import type { Comparison, Found, Sides } from '../difference.ts';
import { atKey, type Succession, successions } from './changed-routes.ts';

export const limitRaised: Comparison = {
  id: 'limit-raised',
  severity: 'warning',
  what: 'A body may be longer: of a request, or of the answer to a login.',
  find: (sides) => limits(sides, (old, next) => next > old),
};

export const limitLowered: Comparison = {
  id: 'limit-lowered',
  severity: 'info',
  what: 'A body must be shorter: of a request, or of the answer to a login.',
  find: (sides) => limits(sides, (old, next) => next < old),
};

const KEYS = ['body', 'login'] as const;
const WHOSE = { body: 'a body', login: 'the answer to a login' } as const;

function* limits(sides: Sides, isTold: (old: number, next: number) => boolean): Generator<Found> {
  for (const pair of successions(sides))
    for (const key of KEYS) {
      const [old, next] = [limitOf(pair.from, key), limitOf(pair.to, key)];
      // A gate that came or went is told of as such.
      if (key === 'login' && (old === undefined || next === undefined)) continue;
      if (!isTold(bytes(old), bytes(next))) continue;
      yield atKey(pair, key, `lets ${WHOSE[key]} be ${shown(pair.to, key)}, before ${shown(pair.from, key)}`);
    }
}

function limitOf({ entry }: Succession['from'], key: (typeof KEYS)[number]): string | undefined {
  return entry[key]?.maxBytes;
}

function shown({ shown }: Succession['from'], key: (typeof KEYS)[number]): string {
  return shown[key] === undefined ? 'as long as it is' : `${shown[key].maxBytes} long`;
}

function bytes(limit: string | undefined): number {
  return limit === undefined ? Number.POSITIVE_INFINITY : sizeBytes(limit);
}

import { isJsonType, nameMatcher } from '../../plan/media-type.ts';
import type { Comparison, Found, Sides } from '../difference.ts';
import { atKey, type Succession, successions } from './changed-routes.ts';

export const typesWidened: Comparison = {
  id: 'types-widened',
  severity: 'warning',
  what: 'A body may be of media types that were refused.',
  find: (sides) => types(sides, 'takes more media types', (old, next) => [old, next]),
};

export const typesNarrowed: Comparison = {
  id: 'types-narrowed',
  severity: 'info',
  what: 'A body may not be any more of media types that were taken.',
  find: (sides) => types(sides, 'takes fewer media types', (old, next) => [next, old]),
};

/** `undefined`: any. */
type Types = readonly string[] | undefined;

function* types(sides: Sides, what: string, order: (old: Types, next: Types) => [Types, Types]): Generator<Found> {
  for (const pair of successions(sides)) {
    const [old, next] = [typesOf(pair.from.entry), typesOf(pair.to.entry)];
    const [few, many] = order(old, next);
    const isMore = few !== undefined && (many === undefined || !many.every(covers(few)));
    if (isMore) yield atKey(pair, 'body', `${what}: ${shown(pair.to)}; before: ${shown(pair.from)}`);
  }
}

const ANY_JSON = 'application/*+json';

/** Whether all of a type, or of a kind such as `image/*`, is taken. */
function covers(few: readonly string[]): (type: string) => boolean {
  const takesName = nameMatcher(few);
  const isAnyJson = few.includes(ANY_JSON);
  return (type) => takesName(type.toLowerCase()) || (isAnyJson && isJsonType(type));
}

function typesOf({ body }: Succession['from']['entry']): Types {
  if (body === undefined || body.types !== undefined) return body?.types;
  if (body.schema !== undefined) return ['application/json', ANY_JSON];
  const looked = [...(body.multipart ? ['multipart/form-data'] : []), ...(body.csv ? ['text/csv'] : [])];
  return looked.length === 0 ? undefined : looked;
}

function shown({ shown }: Succession['from']): string {
  return typesOf(shown)?.join(', ') ?? 'any';
}

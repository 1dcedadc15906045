import { isJsonType, mediaTypeMatcher } from '../../plan/body/media-type.ts';
import type { Comparison, DiffContext, DiffFinding } from '../difference.ts';
import { findingAtKey, type MatchedRoutePair, matchedRoutes } from './matched-routes.ts';

export const mediaTypesWidened: Comparison = {
  id: 'media-types-widened',
  severity: 'warning',
  description: 'A body may be of media types that were refused.',
  find: (sides) => changedTypes(sides, 'takes more media types', (old, next) => [old, next]),
};

export const mediaTypesNarrowed: Comparison = {
  id: 'media-types-narrowed',
  severity: 'info',
  description: 'A body may not be any more of media types that were taken.',
  find: (sides) => changedTypes(sides, 'takes fewer media types', (old, next) => [next, old]),
};

/** `undefined`: any. */
type AcceptedTypes = readonly string[] | undefined;

function* changedTypes(
  sides: DiffContext,
  what: string,
  order: (old: AcceptedTypes, next: AcceptedTypes) => [AcceptedTypes, AcceptedTypes],
): Generator<DiffFinding> {
  for (const pair of matchedRoutes(sides)) {
    const [old, next] = [typesOf(pair.from.entry), typesOf(pair.to.entry)];
    const [few, many] = order(old, next);
    const isMore = few !== undefined && (many === undefined || !many.every(covers(few)));
    if (isMore) yield findingAtKey(pair, 'body', `${what}: ${formatTypes(pair.to)}; before: ${formatTypes(pair.from)}`);
  }
}

const ANY_JSON = 'application/*+json';

/** Whether all of a type, or of a kind such as `image/*`, is taken. */
function covers(few: readonly string[]): (type: string) => boolean {
  const takesName = mediaTypeMatcher(few);
  const isAnyJson = few.includes(ANY_JSON);
  return (type) => takesName(type.toLowerCase()) || (isAnyJson && isJsonType(type));
}

function typesOf({ body }: MatchedRoutePair['from']['entry']): AcceptedTypes {
  if (body === undefined || body.types !== undefined) return body?.types;
  if (body.schema !== undefined) return ['application/json', ANY_JSON];
  const looked = [...(body.multipart ? ['multipart/form-data'] : []), ...(body.csv ? ['text/csv'] : [])];
  return looked.length === 0 ? undefined : looked;
}

function formatTypes({ redactedEntry }: MatchedRoutePair['from']): string {
  return typesOf(redactedEntry)?.join(', ') ?? 'any';
}

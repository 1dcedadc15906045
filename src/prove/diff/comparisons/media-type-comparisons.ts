import { isJsonType, mediaTypeMatcher } from '../../../engine/validation/media-type.ts';
import type { Comparisons, DiffContext, DiffFinding, MatchedRoutePair } from '../difference.ts';
import { findingAtKey, rewrittenRoutes } from '../matched-routes.ts';
import { mediaTypeWitness } from '../witnesses/body-requests.ts';

export const mediaTypeComparisons: Comparisons = {
  'media-types-widened': {
    severity: 'warning',
    description: 'A route now accepts media types that it refused before.',
    find: (sides) => changedTypes(sides, 'accepts more media types', true),
  },
  'media-types-narrowed': {
    severity: 'info',
    description: 'A route no longer accepts some media types.',
    find: (sides) => changedTypes(sides, 'accepts fewer media types', false),
  },
};

/** `undefined` accepts every type. */
type AcceptedTypes = readonly string[] | undefined;

function* changedTypes(sides: DiffContext, message: string, isWider: boolean): Generator<DiffFinding> {
  for (const pair of rewrittenRoutes(sides)) {
    const [old, next] = [typesOf(pair.from.entry), typesOf(pair.to.entry)];
    const [smaller, larger] = isWider ? [old, next] : [next, old];
    const isMore = smaller !== undefined && (larger === undefined || !larger.every(covers(smaller)));
    if (!isMore) continue;
    const text = `${message}: ${formatTypes(pair.to)} (was: ${formatTypes(pair.from)})`;
    yield findingAtKey(pair, 'body', text, mediaTypeWitness(sides, pair, { from: !isWider, to: isWider }));
  }
}

const ANY_JSON = 'application/*+json';

/** Returns a function that is true for a type, or a wildcard such as `image/*`, that the list covers completely. */
function covers(types: readonly string[]): (type: string) => boolean {
  const matches = mediaTypeMatcher(types);
  const hasAnyJson = types.includes(ANY_JSON);
  return (type) => matches(type.toLowerCase()) || (hasAnyJson && isJsonType(type));
}

function typesOf({ body }: MatchedRoutePair['from']['entry']): AcceptedTypes {
  if (body === undefined || body.types !== undefined) return body?.types;
  if (body.schema !== undefined) return ['application/json', ANY_JSON];
  const formTypes = [...(body.multipart ? ['multipart/form-data'] : []), ...(body.csv ? ['text/csv'] : [])];
  return formTypes.length === 0 ? undefined : formTypes;
}

function formatTypes({ redactedEntry }: MatchedRoutePair['from']): string {
  return typesOf(redactedEntry)?.join(', ') ?? 'any';
}

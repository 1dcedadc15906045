import type { RouteEntry } from '../manifest/manifest.generated.ts';
import type { Path } from '../problem/finding.ts';
import type { Secrets } from '../problem/redaction.ts';
import { parseMediaType } from '../validation/media-type.ts';

const COMMON_TYPES = [
  'application/json',
  'application/octet-stream',
  'application/pdf',
  'application/problem+json',
  'application/x-www-form-urlencoded',
  'application/xml',
  'application/zip',
  'image/jpeg',
  'image/png',
  'multipart/form-data',
  'text/csv',
  'text/html',
  'text/plain',
  'text/xml',
];
/** Stands for every other type, because a client may write any text there. */
const OTHER = 'other';

/**
 * Creates the function that returns the name of a Content-Type, in lower case and without parameters. It returns only common types and
 * those of the manifest. Of a kind such as `image/*`, which a route lists, it returns `image/*`.
 */
export function createMediaTypeNames(routes: readonly RouteEntry[], secrets: Secrets): (contentType: string) => string {
  const listed = routes.flatMap(({ body }, index) => listedTypes(body, ['routes', index, 'body'], secrets));
  const names = new Set([...COMMON_TYPES, ...listed]);
  return (contentType) => {
    if (names.has(contentType)) return contentType;
    const name = parseMediaType(contentType)?.name ?? OTHER;
    if (names.has(name)) return name;
    const kind = `${name.slice(0, name.indexOf('/') + 1)}*`;
    return names.has(kind) ? kind : OTHER;
  };
}

/** Returns the types of a body rule in lower case, except those from the environment. */
function listedTypes(body: RouteEntry['body'], path: Path, { isSecret }: Secrets): string[] {
  const types = body?.types ?? [];
  return types.filter((_type, index) => !isSecret([...path, 'types', index])).map((type) => type.toLowerCase());
}

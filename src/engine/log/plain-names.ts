import type { RouteEntry } from '../manifest/manifest.generated.ts';
import type { Path } from '../problem/finding.ts';
import type { Secrets } from '../problem/redaction.ts';
import { parseMediaType } from '../validation/media-type.ts';

/** The extensions of files that surrogates keep: another text after a dot may belong to a name or an address. */
const EXTENSION =
  /\.(?:pdf|asice|p7[ms]|xml|json|ya?ml|csv|txt|md|eml|html?|css|m?js|map|wasm|png|jpe?g|gif|svg|webp|avif|heic|tiff?|ico|woff2?|ttf|otf|mp[34]|zip|gz|tar|docx?|xlsx?|pptx?|od[tsp]|rtf|ics|log)$/i;

/** Returns the extension of a file's name with its dot; empty without one, and for a name that is only an extension. */
export function fileExtension(segment: string): string {
  const match = EXTENSION.exec(segment);
  return match === null || match.index === 0 ? '' : match[0];
}

const SHORT_WORD = /^[A-Za-z]{1,5}$/;
const DIGIT_COUNT = /\d/g;

/** True for a word that is too short to be an identifier, such as `me` or `new`. */
export function isShortWord(segment: string): boolean {
  return SHORT_WORD.test(segment);
}

/** True if a segment of a path is probably no word: an e-mail address, a number, a UUID, a token. */
export function looksLikeIdentifier(segment: string): boolean {
  const extension = fileExtension(segment);
  const stem = extension === '' ? segment : segment.slice(0, -extension.length);
  if (/@|%40/.test(stem)) return true;
  const digits = stem.replaceAll(/%../g, '').match(DIGIT_COUNT)?.length ?? 0;
  if (digits >= 4 || (digits > 0 && stem.length >= 6)) return true;
  return !stem.split(/[^A-Za-z]+|%../).every(isWord);
}

/** The longest words of technical English and German have about as many letters. */
const MAX_WORD = 20;
const CONSONANTS = /[bcdfghjklmnpqrstvwxz]{6}/i;

/** True if letters are probably words: `contacts`, `signingRequests`, `PDF`. */
export function isWord(letters: string): boolean {
  if (letters.length <= 3) return true;
  const parts = letters.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? [];
  if (parts.length > 1 && letters.length < 3 * parts.length) return false;
  return parts.every((part) => part.length <= MAX_WORD && !CONSONANTS.test(part));
}

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

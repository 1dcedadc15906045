/** A list of media types (RFC 9110 section 8.3.1). */
export interface MediaTypes {
  readonly includes: (contentType: string) => boolean;
  /** The list as the value of an `Accept` header; `undefined` if clients may not see it. */
  readonly acceptHeader: string | undefined;
  /** The detail of the refusal of other media types. */
  readonly refusalDetail: string;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** RFC 9110 section 8.3.1: one media type with any parameters, which may be empty (section 5.6.6). */
const MEDIA_TYPE = new RegExp(
  `^(${TOKEN}/${TOKEN})((?:[\\t ]*;(?:[\\t ]*${TOKEN}=(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*"))?)*)[\\t ]*$`,
);
const PARAMETER = new RegExp(`;[\\t ]*(${TOKEN})=(?:(${TOKEN})|"((?:[^"\\\\]|\\\\.)*)")`, 'g');
/** JSON is UTF-8 (RFC 8259 section 8.1) and has no other parameter; `+json` is RFC 6839 section 3.1. */
const JSON_TYPE =
  /^application\/(?:json|[a-z0-9.!#$&^_-]+\+json)(?:(?:[\t ]*;)+(?:[\t ]*charset=(?:utf-8|"utf-8")(?:[\t ]*;)*)?)?[\t ]*$/i;

/** Parses a Content-Type, with names in lower case; returns `undefined` if it is invalid or has duplicate parameters. */
export function parseMediaType(text: string) {
  const [, name, rest = ''] = MEDIA_TYPE.exec(text) ?? [];
  if (name === undefined) return undefined;
  const parameters = new Map<string, string>();
  for (const [, written = '', token, quoted = ''] of rest.matchAll(PARAMETER)) {
    const parameter = written.toLowerCase();
    if (parameters.has(parameter)) return undefined;
    parameters.set(parameter, token ?? quoted.replaceAll(/\\(.)/g, '$1'));
  }
  return { name: name.toLowerCase(), parameters };
}

export function isJsonType(text: string): boolean {
  return JSON_TYPE.test(text);
}

/** All JSON types: the default for a body with a schema. */
export const JSON_MEDIA_TYPES: MediaTypes = Object.freeze({
  includes: isJsonType,
  acceptHeader: 'application/json',
  refusalDetail: 'this route accepts application/json in UTF-8, without a content encoding',
});

/**
 * Creates the media types that a manifest lists: `text/csv`, or `image/*` for all of a kind. `alsoAccepts` checks the complete Content-Type
 * of a listed type. With `isHidden`, refusals may not name the types, because some came from the environment.
 */
export function createMediaTypes(
  listed: readonly string[],
  alsoAccepts: (contentType: string) => boolean,
  isHidden: boolean,
): MediaTypes {
  const includesName = mediaTypeMatcher(listed);
  return Object.freeze({
    includes: (contentType: string) => {
      const type = parseMediaType(contentType);
      return type !== undefined && includesName(type.name) && alsoAccepts(contentType);
    },
    acceptHeader: isHidden ? undefined : listed.join(', '),
    refusalDetail: `this route accepts ${isHidden ? 'other media types' : listed.join(' or ')}, without a content encoding`,
  });
}

/** Returns a function that is true for lower-case names of listed media types. */
export function mediaTypeMatcher(listed: readonly string[]): (name: string) => boolean {
  const names = new Set(listed.map((type) => type.toLowerCase()));
  const kinds = [...names].filter((type) => type.endsWith('/*')).map((type) => type.slice(0, -1));
  return (name) => names.has(name) || kinds.some((kind) => name.startsWith(kind));
}

import { attempt } from '../../attempt.ts';
import { isIpv6 } from './host-formats.ts';

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/;
const PORT = /^(?::\d*)?$/;
const IP_FUTURE = /^[Vv][0-9A-Fa-f]+\.[A-Za-z0-9\-._~!$&'()*+,;=:]+$/;
const UNRESERVED = 'A-Za-z0-9\\-._~';
const SUB_DELIMS = "!$&'()*+,;=";
/** `ucschar` of RFC 3987 section 2.2, without the formatting characters that its section 4.1 forbids. */
const UCS_CHARACTERS =
  '\\u{A0}-\\u{200D}\\u{2010}-\\u{2029}\\u{202F}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFEF}' +
  Array.from({ length: 14 }, (_, plane) => plane + 1)
    .map((plane) => `\\u{${plane.toString(16)}${plane === 14 ? '1000' : '0000'}}-\\u{${plane.toString(16)}FFFD}`)
    .join('');
/** `iprivate` of RFC 3987 section 2.2. */
const PRIVATE_CHARACTERS = '\\u{E000}-\\u{F8FF}\\u{F0000}-\\u{FFFFD}\\u{100000}-\\u{10FFFD}';

/** For each component, an expression that matches a character or an escape that it may not contain. */
type Grammar = ReturnType<typeof createGrammar>;

const URI = createGrammar('', '');
const IRI = createGrammar(UCS_CHARACTERS, PRIVATE_CHARACTERS);

/** `URI` and `URI-reference` of RFC 3986 section 3 and 4.1, `IRI` and `IRI-reference` of RFC 3987 section 2.2. */
export const URI_FORMATS = {
  uri: (text: string) => SCHEME.test(text) && isReference(text, URI),
  'uri-reference': (text: string) => isReference(text, URI),
  iri: (text: string) => SCHEME.test(text) && isReference(text, IRI),
  'iri-reference': (text: string) => isReference(text, IRI),
  'uri-template': isUriTemplate,
  uuid: (text: string) => UUID.test(text),
  'json-pointer': isJsonPointer,
  'relative-json-pointer': isRelativeJsonPointer,
  regex: isRegex,
  'json-pointer-uri-fragment': isJsonPointerFragment,
} as const;

/** Returns an expression for everything except these characters and complete percent-encoded octets. */
function outside(characters: string): RegExp {
  return new RegExp(`[^${characters}%]|%(?![0-9A-Fa-f]{2})`, 'u');
}

function createGrammar(international: string, privateUse: string) {
  const segment = `${UNRESERVED}${international}${SUB_DELIMS}`;
  return {
    userinfo: outside(`${segment}:`),
    host: outside(segment),
    path: outside(`${segment}:@/`),
    query: outside(`${segment}:@/?${privateUse}`),
    fragment: outside(`${segment}:@/?`),
  };
}

function isReference(text: string, grammar: Grammar): boolean {
  const [beforeFragment, fragment] = cut(text, text.indexOf('#'));
  const [beforeQuery, query] = cut(beforeFragment, beforeFragment.indexOf('?'));
  if (grammar.fragment.test(fragment) || grammar.query.test(query)) return false;
  const scheme = SCHEME.exec(beforeQuery)?.[0] ?? '';
  const hierarchy = beforeQuery.slice(scheme.length);
  if (!hierarchy.startsWith('//')) {
    // Before a colon, the first segment of a relative reference would be a scheme (section 4.2).
    const isAmbiguous = scheme === '' && (hierarchy.split('/', 1)[0] ?? '').includes(':');
    return !isAmbiguous && !grammar.path.test(hierarchy);
  }
  const end = hierarchy.indexOf('/', 2);
  const authority = hierarchy.slice(2, end === -1 ? undefined : end);
  return isAuthority(authority, grammar) && (end === -1 || !grammar.path.test(hierarchy.slice(end)));
}

/** `authority` of RFC 3986 section 3.2. The number of a port has no limit there. */
function isAuthority(authority: string, grammar: Grammar): boolean {
  const at = authority.indexOf('@');
  if (at !== -1 && grammar.userinfo.test(authority.slice(0, at))) return false;
  const hostAndPort = authority.slice(at + 1);
  const bracket = hostAndPort.indexOf(']');
  if (hostAndPort.startsWith('[')) {
    const literal = hostAndPort.slice(1, Math.max(1, bracket));
    return (isIpv6(literal) || IP_FUTURE.test(literal)) && PORT.test(hostAndPort.slice(bracket + 1));
  }
  const colon = hostAndPort.indexOf(':');
  const host = colon === -1 ? hostAndPort : hostAndPort.slice(0, colon);
  return !grammar.host.test(host) && PORT.test(hostAndPort.slice(host.length));
}

/** Returns the texts before and after the character at an index; the second is empty if the index is -1. */
function cut(text: string, index: number): [string, string] {
  return index === -1 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)];
}

/** `literals` of RFC 6570 section 2.1, with the apostrophe, which its erratum 6937 adds. */
const NOT_LITERAL = outside(`!#$&'()*+,\\-./0-9:;=?@A-Z\\[\\]_a-z~${UCS_CHARACTERS}${PRIVATE_CHARACTERS}`);
const OPERATOR = /^[+#./;?&=,!@|]/;
/** Decimal digits of at most 9999, or the asterisk (section 2.4). */
const MODIFIER = /(?::[1-9]\d{0,3}|\*)$/;
const NOT_NAME = /^$|^\.|\.\.|\.$|[^A-Za-z0-9_.%]|%(?![0-9A-Fa-f]{2})/;

/** `URI-Template` of RFC 6570 section 2: literals, and expressions in braces. Reserved operators are valid. */
function isUriTemplate(text: string): boolean {
  let at = 0;
  for (;;) {
    const open = text.indexOf('{', at);
    if (NOT_LITERAL.test(text.slice(at, open === -1 ? undefined : open))) return false;
    if (open === -1) return true;
    const close = text.indexOf('}', open);
    if (close === -1 || !isExpression(text.slice(open + 1, close))) return false;
    at = close + 1;
  }
}

function isExpression(expression: string): boolean {
  const variables = expression.replace(OPERATOR, '').split(',');
  return variables.every((variable) => !NOT_NAME.test(variable.replace(MODIFIER, '')));
}

const WRONG_ESCAPE = /~(?![01])/;
const UPWARDS = /^(?:0|[1-9]\d*)(?:[+-](?:0|[1-9]\d*))?/;
/** `UUID` of RFC 9562 section 4, in any letter case and of any version and variant. */
const UUID = /^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$/;
const NOT_FRAGMENT = /[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%]|%(?![0-9A-Fa-f]{2})/;
/** An expression that is longer takes noticeable time to parse. */
const MAX_REGEX_CHARACTERS = 65_536;

/** `json-pointer` of RFC 6901 section 3. */
function isJsonPointer(text: string): boolean {
  return (text === '' || text.startsWith('/')) && !WRONG_ESCAPE.test(text);
}

/** A JSON Pointer as a URI fragment with its `#` (RFC 6901 section 6). */
function isJsonPointerFragment(text: string): boolean {
  if (!text.startsWith('#') || NOT_FRAGMENT.test(text.slice(1))) return false;
  return attempt(() => isJsonPointer(decodeURIComponent(text.slice(1)))) ?? false;
}

/** `relative-json-pointer` of draft-bhutton-relative-json-pointer-00 section 3. */
function isRelativeJsonPointer(text: string): boolean {
  const upwards = UPWARDS.exec(text)?.[0];
  const rest = text.slice(upwards?.length);
  return upwards !== undefined && (rest === '#' || isJsonPointer(rest));
}

/** A regular expression of ECMA-262 with the flag `u`, up to 65,536 characters long. */
function isRegex(text: string): boolean {
  return text.length <= MAX_REGEX_CHARACTERS && attempt(() => new RegExp(text, 'u')) !== undefined;
}

import { compilePointer } from '../../json-pointer.ts';
import { parseStrictJson } from '../body/strict-json.ts';
import { findJwts } from './find-jwts.ts';
import type { LoginResponse } from './login.ts';

/** Why tokens cannot be looked for, or not all of them: the body must be JSON with one reading, or there are too many. */
export type LoginErrorCode = 'login_response_not_json' | 'login_tokens_too_many';

/** The tokens of a response. */
export interface ResponseTokens {
  /** Tokens at the stated places: none in an MFA challenge, say. Each must verify; `undefined` stands for one that is no text. */
  readonly declared: readonly (string | undefined)[];
  /** JWTs at no stated place: one that the gateway would accept must have an allowed role, and others may pass. */
  readonly undeclared: readonly string[];
}

/** Where a response may hold tokens. Plain data, which threads can exchange. */
export interface TokenLocations {
  /** JSON Pointers into the body; `undefined` if no place in the body is stated. */
  readonly pointers: readonly string[] | undefined;
  /** The name of a header in lower case; `undefined` if none is stated. */
  readonly header: string | undefined;
  /** True if tokens are JWTs, which are found at no stated place too. */
  readonly findsJwts: boolean;
}

/** A response with more has no honest use, and each costs a signature. */
const MAX_TOKENS = 64;

/** Finds the tokens of a response. It takes time in proportion to the response's length. */
export function findTokens(places: TokenLocations, response: LoginResponse): ResponseTokens | LoginErrorCode {
  const { headers, body, status } = response;
  const isAnywhere = places.pointers === undefined && places.header === undefined;
  const inHeaders = isAnywhere ? findJwts(headers.join('\n\n')) : valuesOf(places.header, headers);
  const isSuccess = status >= 200 && status <= 299;
  const inBody =
    body.length === 0 ? [] : isAnywhere ? jwtsInBody(body, isSuccess) : atPointers(places, body, isSuccess);
  if (inBody === undefined) return 'login_response_not_json';
  const stated = new Set([...inHeaders, ...inBody]);
  const strays = new Set(places.findsJwts ? findUndeclared(textOf(response)) : []).difference(stated);
  if (stated.size + strays.size > MAX_TOKENS) return 'login_tokens_too_many';
  return { declared: [...stated], undeclared: [...strays] };
}

/** Of a success. JWTs in other responses are strays: an error page may quote anything. */
function jwtsInBody(body: Buffer, isSuccess: boolean): readonly string[] | undefined {
  if (!isSuccess) return [];
  return 'violation' in parseStrictJson(body) ? undefined : findJwts(body.toString());
}

function atPointers(
  { pointers }: TokenLocations,
  body: Buffer,
  isSuccess: boolean,
): readonly (string | undefined)[] | undefined {
  if (pointers === undefined) return [];
  const parsed = parseStrictJson(body);
  if ('violation' in parsed) return isSuccess || isLooseJson(body) ? undefined : [];
  return pointers
    .map((pointer) => compilePointer(pointer)(parsed.value))
    .filter((token) => token !== undefined && token !== null)
    .map((token) => (typeof token === 'string' ? token : undefined));
}

/** True for a body that some client reads as JSON, though it has two readings. */
function isLooseJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString().replace(/^\uFEFF/, ''));
    return true;
  } catch {
    return false;
  }
}

const SCHEME = /^bearer /i;

/** Every value of a header that comes more than once: whichever the client takes, it was checked. */
function valuesOf(name: string | undefined, headers: readonly string[]): readonly string[] {
  return headers
    .filter((_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === name)
    .map((value) => value.replace(SCHEME, ''));
}

/** All that the client gets. A blank line parts headers, so that two of them never look like one text that was wrapped. */
function textOf({ reason, headers, body, encodedBody }: LoginResponse): string {
  const bodies = body === encodedBody ? [body] : [body, encodedBody];
  return [reason, ...headers, ...bodies.map((bytes) => bytes.toString('latin1'))].join('\n\n');
}

/** JWTs with claims. An encrypted token (RFC 7516) has none that the gateway could ever accept. */
function findUndeclared(text: string): readonly string[] {
  return findJwts(text).filter((token) => isObject(token.split('.')[1] ?? ''));
}

function isObject(part: string): boolean {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return value !== null && typeof value === 'object' && !Array.isArray(value);
  } catch {
    return false;
  }
}

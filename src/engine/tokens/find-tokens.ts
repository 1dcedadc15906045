import { compilePointer, parseJson } from '../json-pointer.ts';
import { isMap } from '../schema/schema-walk.ts';
import { parseStrictJson } from '../validation/strict-json.ts';
import { findJwts } from './find-jwts.ts';

/** A response that is searched for tokens. */
export interface LoginResponse {
  readonly status: number;
  readonly reason: string;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  /** Decoded. */
  readonly body: Buffer;
  /** As the upstream sent it: some encodings carry bytes that decoders skip. */
  readonly encodedBody: Buffer;
}

/** Why a response cannot be searched for tokens: its body is not strict JSON, or it has too many tokens. */
export type LoginErrorCode = 'login_response_not_json' | 'login_tokens_too_many';

/** The tokens of a response. */
export interface ResponseTokens {
  /** Tokens at the configured locations: none in an MFA challenge. Each must be valid; `undefined` is a token that is not a string. */
  readonly declared: readonly (string | undefined)[];
  /** JWTs at other locations. A JWT that the gateway would accept must have an allowed role; others may pass. */
  readonly undeclared: readonly string[];
}

/** The locations of tokens in a response. Plain data, which threads can exchange. */
export interface TokenLocations {
  /** JSON Pointers into the body; `undefined` if the manifest names none. */
  readonly pointers: readonly string[] | undefined;
  /** The name of a header in lower case; `undefined` if the manifest names none. */
  readonly header: string | undefined;
  /** True if tokens are JWTs, which can be found anywhere. */
  readonly findsJwts: boolean;
}

/** No legitimate response has more, and the gateway must verify the signature of each token. */
const MAX_TOKENS = 64;

/** Finds the tokens of a response. Takes linear time. */
export function findTokens(locations: TokenLocations, response: LoginResponse): ResponseTokens | LoginErrorCode {
  const { headers, body, status } = response;
  const isAnywhere = locations.pointers === undefined && locations.header === undefined;
  const inHeaders = isAnywhere ? findJwts(headers.join('\n\n')) : valuesOf(locations.header, headers);
  const isSuccess = status >= 200 && status <= 299;
  const inBody =
    body.length === 0 ? [] : isAnywhere ? jwtsInBody(body, isSuccess) : atPointers(locations, body, isSuccess);
  if (inBody === undefined) return 'login_response_not_json';
  const declared = new Set([...inHeaders, ...inBody]);
  const undeclared = new Set(locations.findsJwts ? findUndeclared(textOf(response)) : []).difference(declared);
  if (declared.size + undeclared.size > MAX_TOKENS) return 'login_tokens_too_many';
  return { declared: [...declared], undeclared: [...undeclared] };
}

/** Returns the JWTs of a successful response. JWTs of other responses are undeclared: an error page may quote anything. */
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

/** Returns true for a body that some clients read as JSON, though it is not strict JSON. */
function isLooseJson(body: Buffer): boolean {
  return parseJson(body.toString().replace(/^\uFEFF/, '')) !== undefined;
}

const SCHEME = /^bearer /i;

/** Returns every value of a repeated header, since a client may use any of them. */
function valuesOf(name: string | undefined, headers: readonly string[]): readonly string[] {
  return headers
    .filter((_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === name)
    .map((value) => value.replace(SCHEME, ''));
}

/** Returns the complete response as a text. A blank line separates headers, so that two of them never look like one wrapped text. */
function textOf({ reason, headers, body, encodedBody }: LoginResponse): string {
  const bodies = body === encodedBody ? [body] : [body, encodedBody];
  return [reason, ...headers, ...bodies.map((bytes) => bytes.toString('latin1'))].join('\n\n');
}

/** Returns the JWTs with claims. The gateway cannot accept an encrypted token (RFC 7516). */
function findUndeclared(text: string): readonly string[] {
  return findJwts(text).filter((token) => {
    const [, payload = ''] = token.split('.');
    return isMap(parseJson(Buffer.from(payload, 'base64url').toString()));
  });
}

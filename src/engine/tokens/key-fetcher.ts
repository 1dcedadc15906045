import { isProtectedInTransit } from '../dns/loopback.ts';
import { parseHttpUrl } from '../settings/address.ts';
import { parseStrictJson } from '../validation/strict-json.ts';
import { isJsonObject } from './claims.ts';
import { readKeySet, type VerificationKeySet } from './key-set.ts';
import { sendIdentityRequest } from './send-identity-request.ts';

/**
 * Reads the URL of an issuer's keys from its metadata: OpenID Connect Discovery 1.0 section 4, or RFC 8414 section 3 if the
 * issuer has no such document. The metadata must name the same issuer (RFC 8414 section 3.3).
 *
 * @throws Error if there is no acceptable URL
 */
export async function discoverJwksUri(address: URL, issuer: string, signal: AbortSignal): Promise<URL> {
  const metadata =
    (await readMetadata(openidMetadataUrl(address), signal)) ?? (await readMetadata(oauthMetadataUrl(address), signal));
  if (metadata === undefined) throw new Error('discovery_not_found');
  if (!isJsonObject(metadata)) throw new Error('discovery_not_an_object');
  if (metadata['issuer'] !== issuer) throw new Error('discovery_issuer_wrong');
  const { jwks_uri: jwksUri } = metadata;
  const url = typeof jwksUri === 'string' ? parseHttpUrl(jwksUri) : '';
  if (typeof url === 'string' || !isProtectedInTransit(url)) throw new Error('discovery_jwks_uri_refused');
  // Metadata that was fetched over TLS must not lead to plain HTTP, above all not to this machine.
  if (address.protocol === 'https:' && url.protocol !== 'https:') throw new Error('discovery_jwks_uri_refused');
  return url;
}

/** Returns `undefined` if the issuer has no such document. */
async function readMetadata(url: URL, signal: AbortSignal): Promise<unknown> {
  const { status, body } = await sendIdentityRequest({ url, headers: { Accept: 'application/json' } }, signal);
  if (status >= 400 && status < 500) return undefined;
  if (status !== 200) throw new Error(`discovery_status_${status}`);
  return parseJsonDocument(body);
}

/** OpenID Connect appends the well-known path to the issuer's path. */
function openidMetadataUrl(address: URL): URL {
  return new URL(`${address.origin}${pathOf(address)}/.well-known/openid-configuration`);
}

/** RFC 8414 puts the well-known path before the issuer's path. */
function oauthMetadataUrl(address: URL): URL {
  return new URL(`${address.origin}/.well-known/oauth-authorization-server${pathOf(address)}`);
}

function pathOf({ pathname }: URL): string {
  return pathname.replace(/\/$/, '');
}

/** Fetches the JSON Web Key Set at a URL (RFC 7517). Rejects if it cannot be read. */
export async function fetchKeySet(
  url: URL,
  algorithms: readonly string[],
  signal: AbortSignal,
): Promise<VerificationKeySet> {
  const headers = { Accept: 'application/jwk-set+json, application/json' };
  const { status, body } = await sendIdentityRequest({ url, headers }, signal);
  if (status !== 200) throw new Error(`keys_status_${status}`);
  return readKeySet(parseJsonDocument(body), algorithms).keys;
}

/** Parses strict JSON. The manifest names the URL of the document, so any media type is accepted. */
export function parseJsonDocument(body: Buffer): unknown {
  const parsed = parseStrictJson(body);
  if ('violation' in parsed) throw new Error('response_not_json');
  return parsed.value;
}

import type { Socket } from 'node:net';
import { isProtectedInTransit } from '../dns/loopback.ts';
import { ConnectionPool } from '../http1/connection-pool.ts';
import { createDial, type Dial } from '../http1/dial.ts';
import {
  type FetchResponse,
  fetchOnce,
  fetchResponse,
  NO_CONNECTION_TIMEOUTS,
  ResponseTooLargeError,
} from '../http1/fetch-response.ts';
import type { UpstreamConnection } from '../http1/upstream-connection.ts';
import { isMap } from '../schema/schema-walk.ts';
import { parseHttpUrl } from '../settings/address.ts';
import { serverNameOf } from '../settings/upstream.ts';
import { parseStrictJson } from '../validation/strict-json.ts';
import { type IdentityEndpoint, IdentityError, type IdentityRequest } from './identity-endpoint.ts';
import { readKeySet, type VerificationKeySet } from './key-set.ts';

const MAX_BYTES = 262_144;

/**
 * Sends a request on a new connection and reads the complete response. Does not follow redirects.
 *
 * @param signal limits the complete exchange
 * @throws IdentityError
 */
async function sendIdentityRequest(request: IdentityRequest, signal: AbortSignal): Promise<FetchResponse> {
  const { url } = request;
  const server = { url, serverName: serverNameOf(url, undefined), tls: () => ({}) };
  try {
    return await fetchOnce(server, toFetchRequest(request), { maxBytes: MAX_BYTES, signal });
  } catch (error) {
    throw toIdentityError(error);
  }
}

/** The connection pools of an identity service, one per server. The caller limits how many connections are in use. */
export class IdentityConnectionPools {
  readonly #pools: readonly ConnectionPool[];

  constructor({ endpoints, tls }: IdentityEndpoint, connectionLimit: number) {
    this.#pools = endpoints.map((endpoint) => {
      const dial = createDial(endpoint, { ...NO_CONNECTION_TIMEOUTS, tls: () => tls });
      return new ConnectionPool(unreferenced(dial), { ...NO_CONNECTION_TIMEOUTS, connectionLimit });
    });
  }

  /**
   * Sends a request to one server. If a kept-alive connection closes before the first byte of the response, the server may
   * have closed it before the request arrived; the request is then sent once more on a new connection.
   *
   * @param index of the server among the endpoints
   * @throws IdentityError
   */
  async send(index: number, request: IdentityRequest, signal: AbortSignal): Promise<FetchResponse> {
    const pool = this.#pools[index] as ConnectionPool;
    try {
      signal.throwIfAborted();
      const connection = acquired(pool.acquire());
      return await sendThrough(pool, connection, request, signal).catch((error) => {
        if (signal.aborted || !connection.mayHaveBeenStale) throw error;
        return sendThrough(pool, acquired(pool.open(false)), request, signal);
      });
    } catch (error) {
      throw toIdentityError(error);
    }
  }
}

/** A pool always has room, because the caller limits the connections in use. */
function acquired(connection: UpstreamConnection | undefined): UpstreamConnection {
  if (connection === undefined) throw new Error('more connections are in use than the limit');
  return connection;
}

async function sendThrough(
  pool: ConnectionPool,
  connection: UpstreamConnection,
  request: IdentityRequest,
  signal: AbortSignal,
): Promise<FetchResponse> {
  try {
    const response = await fetchResponse(connection, toFetchRequest(request), { maxBytes: MAX_BYTES, signal });
    pool.release(connection);
    return response;
  } catch (error) {
    pool.discard(connection);
    throw error;
  }
}

/** Lets the process exit while a connection is idle. During an exchange the connection of the client keeps the process alive. */
function unreferenced(dial: Dial): Dial {
  return (user, isStream) => {
    const socket = dial(user, isStream);
    (socket as Partial<Socket>).unref?.();
    return socket;
  };
}

/** Returns the error of a failed exchange, with a code that may be logged. */
function toIdentityError(error: unknown): IdentityError {
  if (error instanceof IdentityError) return error;
  if (error instanceof ResponseTooLargeError) return new IdentityError('response_too_long');
  return new IdentityError(error instanceof Error && 'code' in error ? String(error.code) : 'connection_failed');
}

function toFetchRequest({ url, headers, form }: IdentityRequest) {
  return {
    method: form === undefined ? 'GET' : 'POST',
    path: url.pathname + url.search,
    headers: ['Host', url.host, ...Object.entries(headers).flat()],
    body: form === undefined ? null : Buffer.from(form, 'latin1'),
  };
}

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
  if (!isMap(metadata)) throw new Error('discovery_not_an_object');
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
function parseJsonDocument(body: Buffer): unknown {
  const parsed = parseStrictJson(body);
  if ('violation' in parsed) throw new Error('response_not_json');
  return parsed.value;
}

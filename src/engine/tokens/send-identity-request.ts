import { type FetchResponse, fetchOnce, fetchResponse, ResponseTooLargeError } from '../http1/fetch-response.ts';
import { getAllHeaders } from '../http1/raw-headers.ts';
import type { UpstreamConnection } from '../http1/upstream-connection.ts';
import { serverNameOf } from '../settings/upstream.ts';
import { IdentityError, type IdentityRequest, type IdentityResponse } from './identity-request.ts';

const MAX_BYTES = 262_144;

/**
 * Sends a request on a new connection and reads the complete response. Does not follow redirects.
 *
 * @param signal limits the complete exchange
 * @throws IdentityError
 */
export async function sendIdentityRequest(request: IdentityRequest, signal: AbortSignal): Promise<IdentityResponse> {
  const { url } = request;
  const server = { url, serverName: serverNameOf(url, undefined), tls: () => ({}) };
  try {
    return toIdentityResponse(await fetchOnce(server, toFetchRequest(request), { maxBytes: MAX_BYTES, signal }));
  } catch (error) {
    throw toIdentityError(error);
  }
}

/** Sends a request on a connection, which the caller releases. Rejects as `fetchResponse` does. */
export async function sendIdentityRequestOn(
  connection: UpstreamConnection,
  request: IdentityRequest,
  signal: AbortSignal,
): Promise<IdentityResponse> {
  return toIdentityResponse(await fetchResponse(connection, toFetchRequest(request), { maxBytes: MAX_BYTES, signal }));
}

/** Returns the error of a failed exchange, with a code that may be logged. */
export function toIdentityError(error: unknown): IdentityError {
  if (error instanceof IdentityError) return error;
  if (error instanceof ResponseTooLargeError) return new IdentityError('response_too_long');
  // The reason of `AbortSignal.timeout`.
  if (error instanceof DOMException && error.name === 'TimeoutError') return new IdentityError('timeout');
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

function toIdentityResponse({ status, headers, body }: FetchResponse): IdentityResponse {
  return { status, mediaType: mediaTypeOf(headers), body };
}

/** Returns the media type without its parameters. With two `Content-Type` headers it is empty, since either could apply. */
function mediaTypeOf(headers: readonly string[]): string {
  const types = getAllHeaders(headers, 'content-type');
  const [type = ''] = types.length === 1 ? (types[0] as string).split(';') : [];
  return type.trim().toLowerCase();
}

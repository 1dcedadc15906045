import { createDial } from '../../http1/dial.ts';
import { fetchResponse, ResponseTooLargeError } from '../../http1/fetch-response.ts';
import { UpstreamConnection } from '../../http1/upstream-connection.ts';
import { serverNameOf } from '../settings/upstream.ts';
import { IdentityError, type IdentityRequest, type IdentityResponse, MAX_TIMER_MS } from './identity-request.ts';

const MAX_BYTES = 262_144;

/** The signal limits the whole question: name, connection, TLS, request, response and body. The client has no limit of its own beside it. */
export const NO_CONNECTION_TIMEOUTS = {
  responseTimeoutMs: 0,
  idleTimeoutMs: 0,
  connectTimeoutMs: MAX_TIMER_MS,
} as const;

/**
 * Asks on a connection of its own and reads the whole response, within a size limit. Follows no redirect: a redirect is a
 * response like any other.
 *
 * @param question.signal ends the question, wherever it is
 * @throws NoAnswer
 */
export async function sendIdentityRequest(
  question: IdentityRequest & { readonly signal: AbortSignal },
): Promise<IdentityResponse> {
  const { url, signal } = question;
  if (signal.aborted) throw abortErrorOf(signal);
  const dial = createDial(
    { url, serverName: serverNameOf(url, undefined) },
    { ...NO_CONNECTION_TIMEOUTS, tls: () => ({}) },
  );
  const connection = new UpstreamConnection({
    dial,
    ...NO_CONNECTION_TIMEOUTS,
    isForTunnel: false,
    onClosed: () => undefined,
  });
  try {
    return await sendIdentityRequestOn(connection, question, signal);
  } catch (error) {
    throw toIdentityError(error);
  } finally {
    connection.destroy();
  }
}

/** Asks on a connection, which is the caller's to release. Rejects as `fetchWhole` does. */
export async function sendIdentityRequestOn(
  connection: UpstreamConnection,
  question: IdentityRequest,
  signal: AbortSignal,
): Promise<IdentityResponse> {
  const { url, headers, form } = question;
  const stop = () => connection.abort(abortErrorOf(signal));
  signal.addEventListener('abort', stop);
  try {
    const request = {
      method: form === undefined ? 'GET' : 'POST',
      path: url.pathname + url.search,
      headers: ['Host', url.host, ...Object.entries(headers).flat()],
      body: form === undefined ? null : Buffer.from(form, 'latin1'),
    };
    const { status, headers: received, body } = await fetchResponse(connection, request, MAX_BYTES);
    return { status, mediaType: mediaTypeOf(received), body };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

export function toIdentityError(error: unknown): IdentityError {
  if (error instanceof IdentityError) return error;
  if (error instanceof ResponseTooLargeError) return new IdentityError('response_too_long');
  return new IdentityError(error instanceof Error && 'code' in error ? String(error.code) : 'broken');
}

/** `AbortSignal.timeout` has a reason of its own. */
export function abortErrorOf({ reason }: AbortSignal): IdentityError {
  return reason instanceof IdentityError ? reason : new IdentityError('timeout');
}

/** Without its parameters. A response with two of them has none: which one counts is a guess. */
function mediaTypeOf(headers: readonly string[]): string {
  const types = headers.filter((_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === 'content-type');
  const [type = ''] = types.length === 1 ? (types[0] as string).split(';') : [];
  return type.trim().toLowerCase();
}

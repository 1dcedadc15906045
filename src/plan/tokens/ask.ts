import { Connection } from '../../http1/connection.ts';
import { createDial } from '../../http1/dial.ts';
import { fetchWhole, TooLong } from '../../http1/fetch-whole.ts';
import { serverNameOf } from '../upstream.ts';
import { LONGEST_MS, NoAnswer, type Question, type Reply } from './question.ts';

const MAX_BYTES = 262_144;

/** The signal limits the whole question: name, connection, TLS, request, response and body. The client has no limit of its own beside it. */
export const NO_LIMITS = { responseTimeoutMs: 0, idleTimeoutMs: 0, connectTimeoutMs: LONGEST_MS } as const;

/**
 * Asks on a connection of its own and reads the whole response, within a size limit. Follows no redirect: a redirect is a
 * response like any other.
 *
 * @param question.signal ends the question, wherever it is
 * @throws NoAnswer
 */
export async function ask(question: Question & { readonly signal: AbortSignal }): Promise<Reply> {
  const { url, signal } = question;
  if (signal.aborted) throw reasonOf(signal);
  const dial = createDial({ url, serverName: serverNameOf(url, undefined) }, { ...NO_LIMITS, tls: () => ({}) });
  const connection = new Connection({ dial, ...NO_LIMITS, isForTunnel: false, onClosed: () => undefined });
  try {
    return await askOn(connection, question, signal);
  } catch (error) {
    throw toNoAnswer(error);
  } finally {
    connection.destroy();
  }
}

/** Asks on a connection, which is the caller's to release. Rejects as `fetchWhole` does. */
export async function askOn(connection: Connection, question: Question, signal: AbortSignal): Promise<Reply> {
  const { url, headers, form } = question;
  const stop = () => connection.abort(reasonOf(signal));
  signal.addEventListener('abort', stop);
  try {
    const request = {
      method: form === undefined ? 'GET' : 'POST',
      path: url.pathname + url.search,
      headers: ['Host', url.host, ...Object.entries(headers).flat()],
      body: form === undefined ? null : Buffer.from(form, 'latin1'),
    };
    const { status, headers: received, body } = await fetchWhole(connection, request, MAX_BYTES);
    return { status, mediaType: mediaTypeOf(received), body };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

export function toNoAnswer(error: unknown): NoAnswer {
  if (error instanceof NoAnswer) return error;
  if (error instanceof TooLong) return new NoAnswer('answer_too_long');
  return new NoAnswer(error instanceof Error && 'code' in error ? String(error.code) : 'broken');
}

/** `AbortSignal.timeout` has a reason of its own. */
export function reasonOf({ reason }: AbortSignal): NoAnswer {
  return reason instanceof NoAnswer ? reason : new NoAnswer('timeout');
}

/** Without its parameters. A response with two of them has none: which one counts is a guess. */
function mediaTypeOf(headers: readonly string[]): string {
  const types = headers.filter((_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === 'content-type');
  const [type = ''] = types.length === 1 ? (types[0] as string).split(';') : [];
  return type.trim().toLowerCase();
}

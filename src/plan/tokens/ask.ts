import { once } from 'node:events';
import type * as http from 'node:http';
import type * as https from 'node:https';
import { createRequire } from 'node:module';

/** A question over HTTP, to the issuer of tokens. */
export interface Question {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Goes by POST; left out: a GET. */
  readonly form?: string;
  readonly agent?: http.Agent | undefined;
  readonly tls?: https.RequestOptions;
  /** Ends the exchange, wherever it is. */
  readonly signal: AbortSignal;
}

export interface Reply {
  readonly status: number;
  readonly mediaType: string;
  readonly body: Buffer;
}

/** No whole answer came. The message is a short code, and nothing of the question. */
export class NoAnswer extends Error {}

const MAX_BYTES = 262_144;

/** Ends what is asked; a timer that is set higher would end it at once. */
export function deadline(timeoutMs: number): AbortSignal {
  return AbortSignal.timeout(Math.min(timeoutMs, 2 ** 31 - 1));
}

/**
 * Asks once and reads the whole answer, within a size limit. Redirects are answers like any other; nothing
 * follows them. By `node:http`: the built-in `fetch` would cost 20 MB of memory.
 *
 * @throws NoAnswer
 */
export async function ask(question: Question): Promise<Reply> {
  const asked = send(question);
  try {
    return await readReply(asked);
  } catch (error) {
    // The other side may have closed a kept connection meanwhile: a question may be put twice.
    if (!asked.reusedSocket || codeOf(error) !== 'ECONNRESET') throw toNoAnswer(error, question.signal);
  }
  return readReply(send({ ...question, agent: undefined })).catch((error) => {
    throw toNoAnswer(error, question.signal);
  });
}

function send({ url, headers, form, agent, tls, signal }: Question): http.ClientRequest {
  const method = form === undefined ? 'GET' : 'POST';
  const { request } = clientOf(url);
  const asked = request(url, { ...tls, method, headers, agent: agent ?? false, signal });
  // Told by whoever waits for the answer; what comes later is of no interest.
  asked.on('error', () => undefined);
  return asked.end(form);
}

/** For when something is asked: an import reads all of HTTP, undici too, where a manifest is only checked. */
const require = createRequire(import.meta.url);

/** The part of Node that speaks with a URL. */
export function clientOf(url: URL | undefined): typeof http | typeof https {
  return require(url?.protocol === 'https:' ? 'node:https' : 'node:http');
}

async function readReply(request: http.ClientRequest): Promise<Reply> {
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  try {
    const body = await readLimited(response);
    const [mediaType = ''] = (response.headers['content-type'] ?? '').split(';');
    return { status: response.statusCode ?? 0, mediaType: mediaType.trim().toLowerCase(), body };
  } finally {
    response.destroy();
  }
}

async function readLimited(response: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new NoAnswer('answer_too_long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function toNoAnswer(error: unknown, signal: AbortSignal): NoAnswer {
  if (error instanceof NoAnswer) return error;
  return new NoAnswer(signal.aborted ? 'timeout' : (codeOf(error) ?? 'broken'));
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

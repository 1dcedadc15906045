import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';
import type { Auth, LoginRule, TokenFault } from '../plan/plan.ts';
import { authorize } from './authorize.ts';
import type { Exchange } from './exchange.ts';
import type { Answer } from './held-answer.ts';
import { Refusal } from './refusal.ts';

export interface Login {
  readonly auth: Auth;
  readonly login: LoginRule;
  readonly exchange: Exchange;
}

/**
 * The role gate at login. An answer is let out when it carries no token (an MFA challenge), or when each that it
 * carries verifies and its role is allowed. What cannot be read for sure is not let out.
 *
 * @throws Refusal `role_not_allowed`, `login_answer_refused` or `keys_unavailable`
 */
export async function judgeLogin({ auth, login, exchange }: Login, answer: Answer): Promise<void> {
  const tokens = new Set([...login.inHeaders(answer.headers), ...(await tokensInBody(login, answer))]);
  const client = exchange.waitingClient();
  for (const token of tokens) {
    if (typeof token !== 'string') throw unreadable('login_token_not_a_string');
    const verdict = await auth.verifier.verify(token, client);
    if ('fault' in verdict) throw toRefusal(verdict.fault);
    exchange.principal = verdict.principal;
    authorize(auth, verdict.principal);
  }
}

/** A client that asks for a range chooses what stands in the answer (RFC 9110 section 14, RFC 3229): that may be a token without its place. */
const PARTIAL = new Set([206, 226]);

async function tokensInBody({ inBody, limitBytes }: LoginRule, answer: Answer): Promise<readonly unknown[]> {
  const isSuccess = answer.status >= 200 && answer.status <= 299;
  if (inBody === undefined || !isSuccess || answer.body.length === 0) return [];
  if (PARTIAL.has(answer.status)) throw unreadable('login_answer_partial');
  const tokens = inBody(await decode(answer, limitBytes));
  if (tokens === undefined) throw unreadable('login_answer_not_json');
  return tokens;
}

function toRefusal(fault: TokenFault): Refusal {
  if (fault === 'keys_unavailable') return new Refusal('keys_unavailable', { headers: { 'Retry-After': '5' } });
  return unreadable(`login_${fault}`);
}

type Decoder = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECODERS: ReadonlyMap<string, Decoder> = new Map([
  ['gzip', promisify(gunzip) as Decoder],
  ['x-gzip', promisify(gunzip) as Decoder],
  ['deflate', promisify(inflate) as Decoder],
  ['br', promisify(brotliDecompress) as Decoder],
  ['zstd', promisify(zstdDecompress) as Decoder],
]);

async function decode({ headers, body }: Answer, limitBytes: number): Promise<Buffer> {
  const encodings = headers.filter(
    (_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === 'content-encoding',
  );
  const encoding = encodings.join(',').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return body;
  const decoder = DECODERS.get(encoding);
  if (decoder === undefined) throw unreadable('login_answer_encoding_unknown');
  try {
    return await decoder(body, { maxOutputLength: limitBytes });
  } catch {
    throw unreadable('login_answer_encoding_broken');
  }
}

function unreadable(reason: string): Refusal {
  return new Refusal('login_answer_refused', { reason });
}

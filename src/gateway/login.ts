import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';
import type { Auth, LoginRule } from '../plan/plan.ts';
import { authorize } from './authorize.ts';
import type { Answer } from './held-answer.ts';
import { Refusal } from './refusal.ts';

/**
 * The role gate at login. A successful answer is let out when it carries no token (an MFA challenge), or one
 * that verifies and whose role is allowed. What cannot be read for sure is not let out.
 *
 * @throws Refusal `role_not_allowed`, `login_answer_refused` or `keys_unavailable`
 */
export async function judgeLogin(auth: Auth, rule: LoginRule, answer: Answer): Promise<void> {
  if (answer.status < 200 || answer.status > 299 || answer.body.length === 0) return;
  const found = rule.find(await decode(answer, rule.limitBytes));
  if (found === undefined) throw unreadable('login_answer_not_json');
  const { token } = found;
  if (token === undefined || token === null) return;
  if (typeof token !== 'string') throw unreadable('login_token_not_a_string');
  const verdict = await auth.verifier.verify(token);
  if ('principal' in verdict) return authorize(auth, verdict.principal);
  if (verdict.fault === 'keys_unavailable') throw new Refusal('keys_unavailable', { headers: { 'Retry-After': '5' } });
  throw unreadable(`login_${verdict.fault}`);
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

import type { BodyRule } from '../plan/plan.ts';
import type { Exchange } from './exchange.ts';
import type { Head } from './message.ts';
import { Refusal } from './refusal.ts';

const BODILESS = new Set(['GET', 'HEAD']);

/**
 * Holds a body to what its route says of it. A body that must fit a schema is read and checked here: what is
 * returned is what was checked, and what is forwarded is what is returned. Of any other nothing is returned:
 * it is streamed.
 *
 * @throws Refusal `media_type_unsupported`, `body_too_large` or `body_invalid`
 */
export function takeBody(exchange: Exchange, head: Head, rule: BodyRule): Promise<Buffer> | undefined {
  const { judge, types, limitBytes } = rule;
  if (head.body === undefined && BODILESS.has(exchange.request.method ?? '')) return undefined;
  const isFitting = types === undefined || isOfType(exchange, head, rule);
  if (!isFitting) {
    const options = { detail: types.detail, headers: { Accept: types.accept } };
    exchange.refuseInvalid(new Refusal('media_type_unsupported', options));
  }
  if (typeof head.body === 'number' && head.body > limitBytes) throw new Refusal('body_too_large');
  return judge === undefined || !isFitting ? undefined : readJson(exchange, head, { limitBytes, judge });
}

/** A content encoding would make the bytes something else than their type says. */
function isOfType({ request }: Exchange, { contentType, body }: Head, { types, judge }: BodyRule): boolean {
  // Without a body there is nothing to be of a type; but where JSON is asked for, nothing is no JSON.
  if (contentType === undefined) return body === undefined && judge === undefined;
  return types?.takes(contentType) === true && !hasContentEncoding(request.rawHeaders);
}

const LENGTH = 'content-encoding'.length;

/** In any spelling: some servers take `Content_Encoding` for it. */
function hasContentEncoding(raw: readonly string[]): boolean {
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] as string;
    if (name.length === LENGTH && /^content[^a-z]encoding$/i.test(name)) return true;
  }
  return false;
}

async function readJson(
  exchange: Exchange,
  head: Head,
  { limitBytes, judge }: { limitBytes: number; judge: NonNullable<BodyRule['judge']> },
): Promise<Buffer> {
  const body = await collect(exchange, head, limitBytes);
  const errors = judge(body);
  if (errors.length > 0) exchange.refuseInvalid(new Refusal('body_invalid', { errors }));
  return body;
}

function collect(exchange: Exchange, head: Head, limitBytes: number): Promise<Buffer> {
  if (head.body === undefined) return Promise.resolve(Buffer.alloc(0));
  exchange.askForBody();
  const { request } = exchange;
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limitBytes) {
        request.removeAllListeners('data');
        reject(new Refusal('body_too_large'));
      } else {
        chunks.push(chunk);
      }
    });
    request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size)));
    request.on('close', () => reject(new Refusal('message_malformed', { reason: 'client_closed' })));
  });
}

import type { BodyRule } from '../plan/plan.ts';
import type { Exchange } from './exchange.ts';
import { GrowingBuffer } from './growing-buffer.ts';
import type { Head } from './message.ts';
import { resultOf } from './other-thread.ts';
import { PacedReads } from './paced-reads.ts';
import { Refusal } from './refusal.ts';

const BODILESS = new Set(['GET', 'HEAD']);

/**
 * Holds a body to what its route says of it. A body that must fit a schema is read and checked here: what is
 * returned is what was checked, and what is forwarded is what is returned. Of any other nothing is returned:
 * it is streamed.
 *
 * @throws Refusal `media_type_unsupported`, `body_too_large`, `body_invalid` or `gateway_busy`; ClientGone
 */
export function takeBody(exchange: Exchange, head: Head, rule: BodyRule): Promise<Buffer> | undefined {
  const { judge, types, limitBytes } = rule;
  if (head.body === undefined && BODILESS.has(exchange.request.method ?? '')) return undefined;
  const isFitting = types === undefined || isOfType(exchange, head, rule);
  if (!isFitting) {
    const options = { detail: types.detail, headers: types.accept === undefined ? {} : { Accept: types.accept } };
    exchange.refuseInvalid(new Refusal('media_type_unsupported', options));
  } else if (head.body === undefined) checkEmpty(exchange, head, rule);
  if (typeof head.body === 'number' && head.body > limitBytes) throw new Refusal('body_too_large');
  return judge === undefined || !isFitting ? undefined : readJson(exchange, head, { limitBytes, judge });
}

/** What is not framed is not streamed, so nobody looks at it on its way. */
function checkEmpty(exchange: Exchange, { contentType = '' }: Head, { inspect }: BodyRule): void {
  const fault = inspect?.(contentType)?.end();
  if (fault !== undefined) exchange.refuseInvalid(new Refusal('body_invalid', { errors: [fault] }));
}

/** A content encoding would make the bytes something else than their type says. */
function isOfType({ request }: Exchange, { contentType, body }: Head, { types, judge, inspect }: BodyRule): boolean {
  // Without a body there is nothing to be of a type; but nothing is no JSON, and no form.
  if (contentType === undefined) return body === undefined && judge === undefined && inspect === undefined;
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
  const judged = judge(await collect(exchange, head, limitBytes), exchange.client);
  const { faults, body } = judged instanceof Promise ? await resultOf(exchange, judged) : judged;
  const refusal = faults.length === 0 ? undefined : new Refusal('body_invalid', { errors: faults });
  if (refusal !== undefined) exchange.refuseInvalid(refusal);
  if (body === undefined) throw refusal ?? new Refusal('internal_error', { reason: 'body_lost' });
  return body;
}

function collect(exchange: Exchange, head: Head, limitBytes: number): Promise<Buffer> {
  if (head.body === undefined) return Promise.resolve(Buffer.alloc(0));
  exchange.askForBody();
  const { request } = exchange;
  const reads = new PacedReads(request.socket);
  const collected = new GrowingBuffer(Math.min(limitBytes, typeof head.body === 'number' ? head.body : limitBytes));
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      exchange.receivedBytes += chunk.length;
      reads.took(chunk.length);
      try {
        exchange.buffer(chunk.length);
        if (collected.add(chunk)) return;
        reject(new Refusal('body_too_large'));
      } catch (error) {
        // There is no more memory, in the budget or at all: an error of a listener would end the process.
        reject(error as Error);
      }
      request.removeAllListeners('data');
    });
    request.on('end', () => resolve(collected.bytes()));
    request.on('close', () => reject(new Refusal('message_malformed', { reason: 'client_closed' })));
  });
}

import type { BodyRule } from '../../plan/body/body.ts';
import { type RawHeaders, withoutHeaders } from '../../raw-headers.ts';
import type { Exchange } from '../exchange.ts';
import { Refusal } from '../response/refusal.ts';
import { PacedReads } from '../server/paced-reads.ts';
import { awaitValidation } from './await-validation.ts';
import { GrowingBuffer } from './growing-buffer.ts';
import type { RequestHead } from './request-head.ts';

const METHODS_WITHOUT_BODY = new Set(['GET', 'HEAD']);

/**
 * Holds a body to what its route says of it. A body that must fit a schema is read and checked here: what is
 * returned is what was checked, and what is forwarded is what is returned. Of any other nothing is returned:
 * it is streamed.
 *
 * @throws Refusal `media_type_unsupported`, `body_too_large`, `body_invalid` or `gateway_busy`; ClientGone
 */
export function readBody(exchange: Exchange, head: RequestHead, rule: BodyRule): Promise<Buffer> | undefined {
  const { validate, types, limitBytes } = rule;
  if (head.body === undefined && METHODS_WITHOUT_BODY.has(exchange.request.method ?? '')) return undefined;
  const isFitting = types === undefined || hasAllowedMediaType(exchange, head, rule);
  if (!isFitting) {
    const options = {
      detail: types.refusalDetail,
      headers: types.acceptHeader === undefined ? {} : { Accept: types.acceptHeader },
    };
    exchange.refuseOrReport(new Refusal('media_type_unsupported', options));
  } else if (head.body === undefined) validateEmptyBody(exchange, head, rule);
  if (typeof head.body === 'number' && head.body > limitBytes) throw new Refusal('body_too_large');
  return validate === undefined || !isFitting
    ? undefined
    : readValidatedBody(exchange, head, { limitBytes, judge: validate });
}

/** What is not framed is not streamed, so nobody looks at it on its way. */
function validateEmptyBody(
  exchange: Exchange,
  { contentType = '' }: RequestHead,
  { streamValidatorFor }: BodyRule,
): void {
  const fault = streamValidatorFor?.(contentType)?.end();
  if (fault !== undefined) exchange.refuseOrReport(new Refusal('body_invalid', { errors: [fault] }));
}

/** A content encoding would make the bytes something else than their type says. */
function hasAllowedMediaType(
  { request }: Exchange,
  { contentType, body }: RequestHead,
  { types, validate, streamValidatorFor }: BodyRule,
): boolean {
  // Without a body there is nothing to be of a type; but nothing is no JSON, and no form.
  if (contentType === undefined)
    return body === undefined && validate === undefined && streamValidatorFor === undefined;
  return types?.includes(contentType) === true && !hasContentEncoding(request.rawHeaders);
}

/** True for any spelling: some servers read `Content_Encoding` as `Content-Encoding`. */
function hasContentEncoding(headers: RawHeaders): boolean {
  return headers.length > withoutHeaders(headers, (written) => CONTENT_ENCODING.test(written)).length;
}

const CONTENT_ENCODING = /^content[^a-z]encoding$/i;

async function readValidatedBody(
  exchange: Exchange,
  head: RequestHead,
  { limitBytes, judge }: { limitBytes: number; judge: NonNullable<BodyRule['validate']> },
): Promise<Buffer> {
  const judged = judge(await bufferBody(exchange, head, limitBytes), exchange.client);
  const { violations, body } = judged instanceof Promise ? await awaitValidation(exchange, judged) : judged;
  const refusal = violations.length === 0 ? undefined : new Refusal('body_invalid', { errors: violations });
  if (refusal !== undefined) exchange.refuseOrReport(refusal);
  if (body === undefined) throw refusal ?? new Refusal('internal_error', { reason: 'body_lost' });
  return body;
}

function bufferBody(exchange: Exchange, head: RequestHead, limitBytes: number): Promise<Buffer> {
  if (head.body === undefined) return Promise.resolve(Buffer.alloc(0));
  exchange.sendContinue();
  const { request } = exchange;
  const reads = new PacedReads(request.socket);
  const collected = new GrowingBuffer(Math.min(limitBytes, typeof head.body === 'number' ? head.body : limitBytes));
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      exchange.receivedBytes += chunk.length;
      reads.count(chunk.length);
      try {
        exchange.reserve(chunk.length);
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

import type { BodyRule } from '../plan/plan.ts';
import type { Exchange } from './exchange.ts';
import type { Head } from './message.ts';
import { Refusal } from './refusal.ts';

const JSON_TYPE = /^application\/(?:json|[a-z0-9.!#$&^_-]+\+json)[\t ]*(?:;[\t ]*charset=(?:utf-8|"utf-8")[\t ]*)?$/i;

/**
 * Reads and checks the body of a route with a schema. What is returned is what was checked, and what is
 * forwarded is what is returned.
 *
 * @throws Refusal `media_type_unsupported`, `body_too_large` or `body_invalid`
 */
export async function readBody(exchange: Exchange, head: Head, rule: BodyRule & { judge: object }): Promise<Buffer> {
  const encoding = exchange.request.headers['content-encoding'];
  if (head.contentType === undefined || !JSON_TYPE.test(head.contentType) || encoding !== undefined) {
    throw new Refusal('media_type_unsupported', { headers: { Accept: 'application/json' } });
  }
  const body = await collect(exchange, head, rule.limitBytes);
  const errors = rule.judge(body);
  if (errors.length > 0) throw new Refusal('body_invalid', { errors });
  return body;
}

/** @throws Refusal `body_too_large` when the length that the client states is over the limit */
export function checkLength(head: Head, limitBytes: number): void {
  if (typeof head.body === 'number' && head.body > limitBytes) throw new Refusal('body_too_large');
}

function collect(exchange: Exchange, head: Head, limitBytes: number): Promise<Buffer> {
  checkLength(head, limitBytes);
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

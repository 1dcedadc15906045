import type { ClientRequest } from '../../http1/client-request.ts';
import { Refusal } from '../response/refusal.ts';
import { ABSOLUTE, malformed } from './request-target.ts';

/** RFC 3986 section 3.2.2, without userinfo, commas and spaces, which no client sends. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+;=-]+)(?::(\d{1,5}))?$/;
/** Matches most hosts in one test without an allocation. */
const PLAIN_HOST = /^[A-Za-z0-9.-]+(?::[1-5]?\d{1,4})?$/;

/** The headers of a valid request that determine its routing, access and framing. */
export interface RequestHead {
  readonly host: string | undefined;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  /** The number of further hops of an OPTIONS request (RFC 9110 section 7.6.2); `undefined` without a limit. */
  readonly maxForwards: number | undefined;
  /** The number of bytes, or `'chunked'` for an unknown length; `undefined` without a body. */
  readonly body: number | 'chunked' | undefined;
}

/**
 * Reads the headers that determine routing, access and framing. Refuses repeated ones (RFC 9112 sections 3.2 and 6.3).
 *
 * @throws Refusal `message_malformed` or `headers_too_large`
 */
export function readRequestHead(request: ClientRequest, maxHeaders: number): RequestHead {
  if (request.httpVersion !== '1.1' && request.httpVersion !== '1.0') throw malformed('version');
  const raw = request.rawHeaders;
  if (raw.length > 2 * maxHeaders) throw new Refusal('headers_too_large', { reason: 'headers_too_many' });
  const { known } = request;
  if (known.isAmbiguous) throw malformed('header_repeated');
  const host = known.host ?? authorityOf(request);
  if (host !== undefined) {
    if (!isValidHost(host)) throw malformed('host');
  } else if (request.httpVersion === '1.1') {
    throw malformed('host_missing');
  }
  const { framing: body } = request;
  if (body === 'transfer_encoding' || body === 'content_length') throw malformed(body);
  const { authorization, contentType } = known;
  const maxForwards = request.method === 'OPTIONS' ? readMaxForwards(known.maxForwards) : undefined;
  return { host, authorization, contentType, maxForwards, body };
}

function readMaxForwards(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw malformed('max_forwards');
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
}

/**
 * Refuses a request that has passed this gateway before.
 *
 * @param via all members of `Via` (RFC 9110 section 7.6.3)
 * @param pseudonym the name of this gateway
 * @throws Refusal `loop_detected`
 */
export function refuseLoop(via: string, pseudonym: string): void {
  const own = pseudonym.toLowerCase();
  const isOwn = (member: string) => /^[\t ]*\S+[\t ]+(\S+)/.exec(member)?.[1]?.toLowerCase() === own;
  if (via.split(',').some(isOwn)) throw new Refusal('loop_detected');
}

/**
 * Returns the authority of an absolute request target in HTTP/1.0, where `Host` is optional, and stores it as the `Host` that the
 * upstream receives (RFC 9112 section 3.2.2).
 */
function authorityOf({ url, httpVersion, rawHeaders }: ClientRequest): string | undefined {
  const authority = httpVersion === '1.0' ? ABSOLUTE.exec(url)?.[1] : undefined;
  if (authority !== undefined) rawHeaders.push('Host', authority);
  return authority;
}

/** True for a valid `Host` value (RFC 9110 section 7.2). */
export function isValidHost(text: string): boolean {
  if (PLAIN_HOST.test(text)) return true;
  const match = HOST.exec(text);
  return match !== null && Number(match[1] ?? 0) <= 65_535;
}

import { isIP } from 'node:net';
import { forEachHeader, isHeader, type RawHeaders } from '../../http1/raw-headers.ts';
import type { ServerSettings } from '../../settings/server.ts';
import { plainAddress } from '../fairness/client-key.ts';
import { isValidHost } from './request-head.ts';

/** The forwarding headers of a trusted proxy. A missing, repeated or malformed header is `undefined`. */
export interface ForwardedInfo {
  /** The complete `X-Forwarded-For` list. */
  readonly for: string | undefined;
  readonly protocol: string | undefined;
  readonly host: string | undefined;
  readonly requestId: string | undefined;
  /** The last address in the list that is not a trusted proxy. */
  readonly client: string | undefined;
}

const PROTOCOL = /^(?:https?|wss?)$/i;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

export function readForwardedInfo(
  headers: RawHeaders,
  isTrusted: NonNullable<ServerSettings['trustedProxies']>,
): ForwardedInfo {
  let chain: string | undefined;
  let protocol: string | undefined;
  let host: string | undefined;
  let requestId: string | undefined;
  forEachHeader(headers, (name, value) => {
    if (isHeader(name, 'x-forwarded-for')) chain = chain === undefined ? value : `${chain}, ${value}`;
    else if (isHeader(name, 'x-forwarded-proto')) protocol = singleValue(protocol, value);
    else if (isHeader(name, 'x-forwarded-host')) host = singleValue(host, value);
    else if (isHeader(name, 'x-request-id')) requestId = singleValue(requestId, value);
  });
  return {
    for: chain === '' ? undefined : chain,
    protocol: protocol !== undefined && PROTOCOL.test(protocol) ? protocol : undefined,
    host: host !== undefined && isValidHost(host) ? host : undefined,
    requestId: requestId !== undefined && REQUEST_ID.test(requestId) ? requestId : undefined,
    client: chain === undefined ? undefined : clientAddressIn(chain, isTrusted),
  };
}

/** Returns an empty value for a repeated header, because such a header is ambiguous. */
function singleValue(previous: string | undefined, value: string): string {
  return previous === undefined ? value : '';
}

/** Reads from the right, where each proxy appends its peer: the first untrusted address is that of the client. */
function clientAddressIn(chain: string, isTrusted: NonNullable<ServerSettings['trustedProxies']>): string | undefined {
  let client: string | undefined;
  for (let end = chain.length; end >= 0; ) {
    const comma = chain.lastIndexOf(',', end - 1);
    client = addressOf(chain.slice(comma + 1, end).trim());
    if (client === undefined || !isTrusted(client)) return client;
    end = comma;
  }
  return client;
}

/** Returns the IP address in an entry. Some proxies append the port. */
function addressOf(text: string): string | undefined {
  if (isIP(text) !== 0) return plainAddress(text);
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{1,5})?$/.exec(text) ?? [];
  const address = bracketed ?? plain ?? '';
  return isIP(address) === 0 ? undefined : plainAddress(address);
}

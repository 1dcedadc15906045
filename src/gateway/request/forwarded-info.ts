import { isIP } from 'node:net';
import type { ServerSettings } from '../../plan/settings/server.ts';
import { forEachHeader, isHeader, type RawHeaders } from '../../raw-headers.ts';
import { isValidHost } from './request-head.ts';

/** What a trusted proxy says of the request that it passes on; `undefined` where it says nothing that has one reading. */
export interface ForwardedInfo {
  /** X-Forwarded-For, all of it. */
  readonly for: string | undefined;
  readonly protocol: string | undefined;
  readonly host: string | undefined;
  readonly requestId: string | undefined;
  /** The last address on the way that is not a trusted proxy's. */
  readonly client: string | undefined;
}

const PROTOCOL = /^(?:https?|wss?)$/i;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

export function readForwardedInfo(
  headers: RawHeaders,
  trusts: NonNullable<ServerSettings['trustedProxies']>,
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
    client: chain === undefined ? undefined : clientAddressIn(chain, trusts),
  };
}

/** Of a header that may stand once, a second one takes away what the first one said. */
function singleValue(before: string | undefined, value: string): string {
  return before === undefined ? value : '';
}

/** Each proxy adds its peer at the right, so from there on the first one who is not trusted is whom to believe in. */
function clientAddressIn(chain: string, trusts: NonNullable<ServerSettings['trustedProxies']>): string | undefined {
  let client: string | undefined;
  for (let end = chain.length; end >= 0; ) {
    const comma = chain.lastIndexOf(',', end - 1);
    client = addressOf(chain.slice(comma + 1, end).trim());
    if (client === undefined || !trusts(client)) return client;
    end = comma;
  }
  return client;
}

/** Some proxies add the port. */
function addressOf(text: string): string | undefined {
  if (isIP(text) !== 0) return text;
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{1,5})?$/.exec(text) ?? [];
  const address = bracketed ?? plain ?? '';
  return isIP(address) === 0 ? undefined : address;
}

import type { TLSSocket } from 'node:tls';
import { isLoopback } from '../engine/dns/loopback.ts';
import { type AdminResponse, problemDetails } from './admin-endpoint.ts';
import type { AdminExchange, AdminListener } from './admin-listener.ts';

/** Returns the refusal of a request to the admin API, or `undefined` if the request is allowed. */
export function accessRefusal(rules: AdminListener, exchange: AdminExchange, isPublic: boolean) {
  return (
    hostRefusal(rules, exchange) ??
    originRefusal(exchange) ??
    (isPublic ? undefined : authenticationRefusal(rules, exchange))
  );
}

/** Refuses foreign host names at a loopback address: a web page can resolve its own name to this machine (DNS rebinding). */
function hostRefusal({ host: ownHost }: AdminListener, { request }: AdminExchange): AdminResponse | undefined {
  const host = hostNameOf(request.known.host ?? '');
  if (!isLoopback(ownHost) || isLoopback(host) || host === ownHost) return undefined;
  return problemDetails(421, 'unknown host name; use localhost or the address of the admin API');
}

/**
 * Refuses requests from pages of another origin, with any method. The page could not read the response, but the gateway
 * would do the work, and a stream would stay open. Only browsers send these headers.
 */
function originRefusal({ request }: AdminExchange): AdminResponse | undefined {
  const { origin, host } = request.known;
  const site = request.header('sec-fetch-site') ?? 'same-origin';
  const isOwnOrigin = origin === undefined || URL.parse(origin)?.host === host;
  return isOwnOrigin && (site === 'same-origin' || site === 'none')
    ? undefined
    : problemDetails(
        403,
        'requests from pages of other origins are refused; enter the address in the browser instead of following a link',
      );
}

/** Returns the refusal of a caller without a valid certificate or token, or `undefined` if the caller is authenticated. */
export function authenticationRefusal({ tls, acceptsToken }: AdminListener, { connection, request }: AdminExchange) {
  if (tls?.pem().ca !== undefined && !(connection.socket as TLSSocket).authorized)
    return problemDetails(403, 'a client certificate is required; use one that admin.tls.clientCa has signed');
  if (acceptsToken === undefined || acceptsToken(tokenOf(request.known.authorization ?? ''))) return undefined;
  // Prometheus uses Bearer. Basic makes a browser show its password dialog when a person opens an endpoint; the admin
  // page has its own form.
  const basic = request.header('accept')?.includes('text/html') ? `, Basic realm="${REALM}", charset="UTF-8"` : '';
  const challenge = { 'WWW-Authenticate': `Bearer realm="${REALM}"${basic}` };
  const detail = 'a token is required; send admin.token as a bearer token or as the password of HTTP Basic';
  return problemDetails(401, detail, challenge);
}

const REALM = 'signing-gateway admin';

function tokenOf(authorization: string): string {
  const [, scheme = '', credentials = ''] = /^(Bearer|Basic) +(\S+)$/i.exec(authorization) ?? [];
  if (scheme.toLowerCase() !== 'basic') return credentials;
  const pair = Buffer.from(credentials, 'base64').toString();
  return pair.slice(pair.indexOf(':') + 1);
}

function hostNameOf(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[|\]$/g, '');
}

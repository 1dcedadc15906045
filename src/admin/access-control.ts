import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { isLoopback } from '../loopback.ts';
import type { AdminSettings } from '../plan/settings/admin.ts';
import { type AdminResponse, problemDetails } from './admin-endpoint.ts';

/** What stands between a request and the operators' side; `undefined`: it may pass. */
export function accessRefusal(
  rules: AdminSettings,
  request: IncomingMessage,
  isOpen: boolean,
): AdminResponse | undefined {
  return (
    hostRefusal(rules, request) ??
    originRefusal(request) ??
    (isOpen ? undefined : authenticationRefusal(rules, request))
  );
}

/**
 * A page of any site may have its own name lead to this machine, and its scripts ask here as if it were that site
 * (DNS rebinding): who reaches a loopback address by a name that is not this machine's is not answered.
 */
function hostRefusal({ host: own }: AdminSettings, { headers }: IncomingMessage): AdminResponse | undefined {
  const host = hostNameOf(headers.host ?? '');
  if (!isLoopback(own) || isLoopback(host) || host === own) return undefined;
  return problemDetails(421, 'this is asked for by another name; ask localhost, or the address itself');
}

/**
 * Refuses requests that a page of another origin makes, whatever the method: the page cannot read the response, but the work
 * would be done, and a stream would stay open. Tools that are not browsers send none of these headers.
 */
function originRefusal({ headers }: IncomingMessage): AdminResponse | undefined {
  const { origin, 'sec-fetch-site': site = 'same-origin' } = headers;
  const isOwn = origin === undefined || URL.parse(origin)?.host === headers.host;
  return isOwn && (site === 'same-origin' || site === 'none')
    ? undefined
    : problemDetails(
        403,
        'pages of other origins are refused; type the address into the browser instead of following a link',
      );
}

/** What the caller has not shown. */
export function authenticationRefusal(
  { tls, acceptsToken }: AdminSettings,
  { socket, headers }: IncomingMessage,
): AdminResponse | undefined {
  if (tls?.pem().ca !== undefined && !(socket as TLSSocket).authorized)
    return problemDetails(403, 'show a certificate that admin.tls.clientCa has signed');
  if (acceptsToken === undefined || acceptsToken(tokenOf(headers.authorization ?? ''))) return undefined;
  // Prometheus sends the first. For the second a browser asks whoever goes to an address; the page asks by itself.
  const basic = headers.accept?.includes('text/html') ? `, Basic realm="${REALM}", charset="UTF-8"` : '';
  return problemDetails(401, 'send the token of admin.token, as a bearer token or as the password of HTTP Basic', {
    'WWW-Authenticate': `Bearer realm="${REALM}"${basic}`,
  });
}

const REALM = 'signing-gateway admin';

function tokenOf(authorization: string): string {
  const [, scheme = '', credentials = ''] = /^(Bearer|Basic) +(\S+)$/i.exec(authorization) ?? [];
  if (scheme.toLowerCase() !== 'basic') return credentials;
  const pair = Buffer.from(credentials, 'base64').toString();
  return pair.slice(pair.indexOf(':') + 1);
}

/** Without the port. */
function hostNameOf(written: string): string {
  return written
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[|\]$/g, '');
}

import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { isLoopback } from '../plan/address.ts';
import type { AdminRules } from '../plan/plan.ts';
import { type Answer, fault } from './call.ts';

/** What stands between a request and the operators' side; `undefined`: it may pass. */
export function refusalAt(rules: AdminRules, request: IncomingMessage, isOpen: boolean): Answer | undefined {
  return hostFault(rules, request) ?? originFault(request) ?? (isOpen ? undefined : callerFault(rules, request));
}

/**
 * A page of any site may have its own name lead to this machine, and its scripts ask here as if it were that site
 * (DNS rebinding): who reaches a loopback address by a name that is not this machine's is not answered.
 */
function hostFault({ host: own }: AdminRules, { headers }: IncomingMessage): Answer | undefined {
  const host = hostOf(headers.host ?? '');
  if (!isLoopback(own) || isLoopback(host) || host === own) return undefined;
  return fault(421, 'this is asked for by another name; ask localhost, or the address itself');
}

/**
 * Refuses requests that a page of another origin makes, whatever the method: the page cannot read the response, but the work
 * would be done, and a stream would stay open. Tools that are not browsers send none of these headers.
 */
function originFault({ headers }: IncomingMessage): Answer | undefined {
  const { origin, 'sec-fetch-site': site = 'same-origin' } = headers;
  const isOwn = origin === undefined || URL.parse(origin)?.host === headers.host;
  return isOwn && (site === 'same-origin' || site === 'none')
    ? undefined
    : fault(403, 'pages of other origins are refused; type the address into the browser instead of following a link');
}

/** What the caller has not shown. */
export function callerFault({ tls, admits }: AdminRules, { socket, headers }: IncomingMessage): Answer | undefined {
  if (tls?.pem().ca !== undefined && !(socket as TLSSocket).authorized)
    return fault(403, 'show a certificate that admin.tls.clientCa has signed');
  if (admits === undefined || admits(tokenOf(headers.authorization ?? ''))) return undefined;
  // Prometheus sends the first. For the second a browser asks whoever goes to an address; the page asks by itself.
  const basic = headers.accept?.includes('text/html') ? `, Basic realm="${REALM}", charset="UTF-8"` : '';
  return fault(401, 'send the token of admin.token, as a bearer token or as the password of HTTP Basic', {
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
function hostOf(written: string): string {
  return written
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[|\]$/g, '');
}

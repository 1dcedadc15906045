import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { head, type RawResponse, sendRequest } from '../support/raw.ts';
import { type Site, startSite } from '../support/site.ts';

/** Returns the YAML of a login route. */
export const loginRoute = (id: string, rule: string, more = 'access: public') =>
  `  - { id: ${id}, method: any, path: /${id}, upstream: up, ${more}, login: ${rule} }\n`;

const ROUTES = [
  loginRoute('pointer', '{ token: /data/access_token }'),
  loginRoute('header', '{ header: X-Auth-Token }'),
  loginRoute('anywhere', '{}'),
];
/** The paths of the login routes: one for each kind of location of the token. */
export const LOGIN_PATHS = ['/pointer', '/header', '/anywhere'];

export interface LoginSite extends Site {
  /** The token of a role that is allowed. */
  readonly user: string;
  /** The token of a role that is not allowed. */
  readonly viewer: string;
  /** Sends a login to which the upstream responds like this, and returns the gateway's response. */
  login(path: string, upstreamResponse: LoginResponse | ((response: ServerResponse) => void)): Promise<RawResponse>;
}

/** The response of the upstream to a login. */
export interface LoginResponse {
  readonly body?: string | Buffer;
  readonly headers?: OutgoingHttpHeaders;
  readonly status?: number;
  readonly reason?: string;
}

/** Starts a gateway with a login route for each of `LOGIN_PATHS`. */
export async function startLoginSite(): Promise<LoginSite> {
  const site = await startSite(ROUTES.join(''));
  return Object.assign(site, {
    user: await site.issuer.token({ company_role: 'user' }),
    viewer: await site.issuer.token({ company_role: 'viewer' }),
    login: (path: string, upstreamResponse: LoginResponse | ((response: ServerResponse) => void)) => {
      site.respond = (_request, response) => {
        if (typeof upstreamResponse === 'function') return upstreamResponse(response);
        const { body = '{}', headers = {}, status = 200, reason = 'Fine' } = upstreamResponse;
        const all = { 'Content-Type': 'application/json', 'X-Upstream': 'SENTINEL', ...headers };
        response.writeHead(status, reason, all).end(body);
      };
      return sendRequest(site.port, head(`POST ${path} HTTP/1.1`));
    },
  });
}

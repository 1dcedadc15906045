import { manifest, type Running, startGateway } from './gateway.ts';
import { type Issuer, startIssuer } from './issuer.ts';
import { ask, head, type RawAnswer } from './raw.ts';
import { type Respond, startUpstream, type Upstream } from './upstream.ts';

/** A gateway with everything around it: an upstream, an issuer of tokens. */
export interface Site {
  readonly port: number;
  readonly gateway: Running;
  readonly upstream: Upstream;
  readonly issuer: Issuer;
  /** How the upstream answers from now on. */
  respond: Respond;
  /** A request without a body on a connection of its own. */
  get(path: string, ...headers: string[]): Promise<RawAnswer>;
  /** A request with a counted body on a connection of its own. */
  post(path: string, body: string | Buffer, ...headers: string[]): Promise<RawAnswer>;
  close(): Promise<void>;
}

export const ANSWER_OK: Respond = (_request, response) => void response.end('ok');

/** @param routes of the manifest, whose only upstream is `up` */
export async function startSite(routes: string, options: { timeouts?: string } = {}): Promise<Site> {
  const issuer = await startIssuer();
  const upstream = await startUpstream((request, response, body) => site.respond(request, response, body));
  const gateway = await startGateway(manifest(routes, { up: upstream.url, jwks: issuer.jwksUrl, ...options }));
  const site: Site = {
    port: gateway.port,
    gateway,
    upstream,
    issuer,
    respond: ANSWER_OK,
    get: (path, ...headers) => ask(gateway.port, head(`GET ${path} HTTP/1.1`, ...headers)),
    post: (path, body, ...headers) => {
      const first = head(`POST ${path} HTTP/1.1`, `Content-Length: ${Buffer.byteLength(body)}`, ...headers);
      return ask(gateway.port, Buffer.concat([Buffer.from(first, 'latin1'), Buffer.from(body as Buffer)]));
    },
    close: async () => {
      await gateway.close();
      await upstream.close();
      await issuer.close();
    },
  };
  return site;
}

/** Waits until something holds; fails after a while with what did not. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>, withinMs = 5_000) {
  const start = performance.now();
  while (!(await holds())) {
    if (performance.now() - start > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

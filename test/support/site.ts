import { manifest, startGateway, type TestGateway } from './gateway.ts';
import { type Issuer, startIssuer } from './issuer.ts';
import { pause } from './pause.ts';
import { head, type RawResponse, sendRequest } from './raw.ts';
import { scaledMs } from './slowness.ts';
import { type Respond, startUpstream, type Upstream } from './upstream.ts';

/** A gateway with an upstream and a token issuer. */
export interface Site {
  readonly port: number;
  readonly gateway: TestGateway;
  readonly upstream: Upstream;
  readonly issuer: Issuer;
  /** The current response of the upstream. */
  respond: Respond;
  /** Sends a request without a body on a new connection. */
  get(path: string, ...headers: string[]): Promise<RawResponse>;
  /** Sends a request with a body and `Content-Length` on a new connection. */
  post(path: string, body: string | Buffer, ...headers: string[]): Promise<RawResponse>;
  close(): Promise<void>;
}

export const RESPOND_OK: Respond = (_request, response) => void response.end('ok');

/** Starts a gateway with these routes, whose only upstream is `up`. */
export async function startSite(routes: string, options: { timeouts?: string } = {}): Promise<Site> {
  const issuer = await startIssuer();
  const upstream = await startUpstream((request, response, body) => site.respond(request, response, body));
  const gateway = await startGateway(manifest(routes, { up: upstream.url, jwks: issuer.jwksUrl, ...options }));
  const site: Site = {
    port: gateway.port,
    gateway,
    upstream,
    issuer,
    respond: RESPOND_OK,
    get: (path, ...headers) => sendRequest(gateway.port, head(`GET ${path} HTTP/1.1`, ...headers)),
    post: (path, body, ...headers) => {
      const first = head(`POST ${path} HTTP/1.1`, `Content-Length: ${Buffer.byteLength(body)}`, ...headers);
      return sendRequest(gateway.port, Buffer.concat([Buffer.from(first, 'latin1'), Buffer.from(body as Buffer)]));
    },
    close: async () => {
      await gateway.close();
      await upstream.close();
      await issuer.close();
    },
  };
  return site;
}

/** Waits until a condition is true. Fails with its description after a timeout. */
export async function eventually(
  description: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = scaledMs(30_000),
) {
  const start = performance.now();
  while (!(await condition())) {
    if (performance.now() - start > timeoutMs) throw new Error(`not within ${timeoutMs} ms: ${description}`);
    await pause(5);
  }
}

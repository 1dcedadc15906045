import type { BreakerRule } from '../gateway/circuit-breaker/circuit-breaker.ts';
import { RestartableTimeout } from '../http1/event-loop.ts';
import type { UpstreamEndpoint } from '../manifest/manifest.generated.ts';
import { timerMs } from '../manifest/units.ts';
import { type Path, quoteFreeErrorAt } from '../problem/finding.ts';
import { parseHttpUrl } from '../settings/address.ts';
import type { CompileContext } from '../settings/compile-context.ts';
import { findUpstream, serverNameOf, type Upstreams } from '../settings/upstream.ts';
import type { Endpoint, UpstreamTls } from '../settings/upstream-definition.ts';
import type { NetworkVerifier } from './verifier.ts';

/** Everything that compiling `auth.tokens` needs from the rest of the manifest. */
export interface TokensContext extends CompileContext {
  readonly upstreams: Upstreams;
  /** Returns the verifier of the main thread with a key; absent in the main thread. */
  readonly networkVerifier?: ((key: string) => NetworkVerifier) | undefined;
}

/** The endpoint of an identity service that verifies tokens. */
export interface IdentityEndpoint {
  /** Requests go to one of them. When it fails, the next request goes to the next one. */
  readonly endpoints: readonly Pick<Endpoint, 'url' | 'serverName'>[];
  readonly timeoutMs: number;
  readonly tls: UpstreamTls;
}

/** Compiles an endpoint, which is a URL or a path of an upstream; `undefined` after an error. */
export function compileIdentityEndpoint(
  { endpoint, timeout }: { readonly endpoint: string | UpstreamEndpoint; readonly timeout: string },
  path: Path,
  { upstreams, findings }: TokensContext,
): IdentityEndpoint | undefined {
  const timeoutMs = timerMs(timeout);
  if (typeof endpoint === 'string') {
    const url = parseHttpUrl(endpoint);
    if (typeof url !== 'string')
      return { endpoints: [{ url, serverName: serverNameOf(url, undefined) }], timeoutMs, tls: {} };
    const message = `${url}; write for example https://identity.example/oauth/introspect`;
    findings.push(quoteFreeErrorAt(path, 'endpoint', message));
    return undefined;
  }
  const upstream = findUpstream(endpoint.upstream, [...path, 'upstream'], upstreams, findings);
  if (upstream === undefined) return undefined;
  if (upstream.endpoints.some(({ url }) => url.protocol === 'unix:')) {
    const message = 'an identity service cannot have a unix socket; write an upstream with http:// or https://';
    findings.push(quoteFreeErrorAt([...path, 'upstream'], 'endpoint', message));
    return undefined;
  }
  const { endpoints, connectTimeoutMs, responseTimeoutMs, tls } = upstream;
  return {
    // Concatenated as text, so that the path cannot name another host.
    endpoints: endpoints.map(({ url, serverName }) => ({ url: new URL(url.origin + endpoint.path), serverName })),
    timeoutMs: Math.min(timeoutMs, connectTimeoutMs + responseTimeoutMs),
    tls: tls(),
  };
}

/** A request to an identity service. */
export interface IdentityRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The body of a POST request. Without a form the request is a GET. */
  readonly form?: string | undefined;
}

/** The identity service sent no complete response. The message is a short code and contains no part of the request. */
export class IdentityError extends Error {}

/** Returns a signal that aborts after a time, but not because of a standstill of this process. */
export function timeoutSignal(timeoutMs: number): AbortSignal {
  const abort = new AbortController();
  new RestartableTimeout(timeoutMs, () => abort.abort(new IdentityError('timeout'))).start();
  return abort.signal;
}

/**
 * The circuit breaker of an identity service: five consecutive failures open it, then one request goes through every two
 * seconds. The service may fail on the tokens of one client, so a client counts for two failures and waits for its trial
 * until the clients without failures had one.
 */
export const IDENTITY_BREAKER_RULE: BreakerRule = {
  failures: 5,
  failuresPerClient: 2,
  pauseMs: 2_000,
  trialMs: 2_000,
  isTrialForOthersFirst: true,
};

/** The client key of requests that the gateway sends for itself. */
export const GATEWAY_CLIENT = '';

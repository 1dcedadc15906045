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
  const { endpoints, connectTimeoutMs, responseTimeoutMs, tls } = upstream;
  return {
    // Concatenated as text, so that the path cannot name another host.
    endpoints: endpoints.map(({ url, serverName }) => ({ url: new URL(url.origin + endpoint.path), serverName })),
    timeoutMs: Math.min(timeoutMs, connectTimeoutMs + responseTimeoutMs),
    tls: tls(),
  };
}

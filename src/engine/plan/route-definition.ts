import type { RouteRateLimits } from '../rate-limits/rate-limit.ts';
import type { Pattern } from '../routing/pattern.ts';
import type { HeaderRules } from '../settings/header-rules.ts';
import type { OwnResponse } from '../settings/own-response.ts';
import type { Upstream } from '../settings/upstream-definition.ts';
import type { ForwardedClaims } from '../tokens/forwarded-claims.ts';
import type { LoginRule } from '../tokens/login.ts';
import type { Auth } from '../tokens/verifier.ts';
import type { ParameterRules } from '../validation/parameters.ts';
import type { BodyRule } from '../validation/request-rules.ts';

export interface Route {
  readonly id: string;
  /** Equal for equal definitions. */
  readonly key: string;
  /** Upper case, sorted. HEAD is included with GET, unless another route has HEAD for the same path. */
  readonly methods: readonly string[];
  /** As written in the manifest. */
  readonly path: string;
  readonly pattern: Pattern;
  readonly access: 'public' | 'protected';
  /** Verifies callers, and the tokens in login responses; present if the route is protected or has a login gate. */
  readonly auth: Auth | undefined;
  /** `undefined` if no route of the manifest forwards claims. */
  readonly claims: ForwardedClaims | undefined;
  /** `undefined` if the gateway responds itself. */
  readonly upstream: Upstream | undefined;
  readonly ownResponse: OwnResponse | undefined;
  readonly rateLimits: RouteRateLimits | undefined;
  /** From the start of forwarding to the last byte of the response; `undefined`: the upstream's timeout. */
  readonly timeoutMs: number | undefined;
  readonly keepsEncodedSlash: boolean;
  /** Rewrites the matched path for the upstream; `undefined`: the path stays the same. */
  readonly upstreamPath: ((path: string) => string) | undefined;
  /** The `X-Forwarded-Prefix` of requests to the upstream. */
  readonly forwardedPrefix: string | undefined;
  /** Maps paths in headers of the upstream's responses; `undefined`: they stay the same. Its result is `undefined` for a path that clients cannot use. */
  readonly publicPath: ((path: string) => string | undefined) | undefined;
  readonly requestHeaders: HeaderRules | undefined;
  readonly responseHeaders: HeaderRules | undefined;
  readonly websocket: boolean;
  /** Returns true if a page of this origin may open a WebSocket; `undefined`: handshakes are refused. */
  readonly allowsOrigin: ((origin: string, isSameHost: boolean) => boolean) | undefined;
  readonly login: LoginRule | undefined;
  /** `report`: requests with violations are forwarded, and the violations are only logged. */
  readonly validation: 'enforce' | 'report';
  /** Returns true if the manifest contains a name. Other names in a client's body are not logged. */
  readonly isManifestName: (name: string) => boolean;
  /** Validates path parameters, query and headers; `undefined`: anything is valid. */
  readonly parameters: ParameterRules | undefined;
  readonly body: BodyRule | undefined;
}

export interface ForwardingRoute extends Route {
  readonly upstream: Upstream;
}

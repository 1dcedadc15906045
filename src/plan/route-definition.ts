import type { BodyRule } from './body/body.ts';
import type { ParameterRules } from './body/parameters.ts';
import type { HeaderRules } from './settings/header-rules.ts';
import type { Upstream } from './settings/upstream-definition.ts';
import type { Auth } from './tokens/auth.ts';
import type { LoginRule } from './tokens/login.ts';

export interface Route {
  readonly id: string;
  /** Equal for equal definitions. */
  readonly key: string;
  /** Upper case, sorted; HEAD among them where GET is, unless another route has it for the same path. */
  readonly methods: readonly string[];
  /** As written in the manifest. */
  readonly path: string;
  readonly access: 'public' | 'protected';
  /** How callers are judged here, and tokens that a login gives out; present when the route is protected or has a login gate. */
  readonly auth: Auth | undefined;
  readonly upstream: Upstream;
  /** From the request's turn to the answer's last byte; `undefined`: as the upstream says. */
  readonly timeoutMs: number | undefined;
  /** An encoded slash may stand in the path. */
  readonly keepsEncodedSlash: boolean;
  /** The path that the upstream is asked for, by one that was matched; `undefined`: the same. */
  readonly upstreamPath: ((path: string) => string) | undefined;
  readonly requestHeaders: HeaderRules | undefined;
  readonly responseHeaders: HeaderRules | undefined;
  /** A WebSocket handshake may become a tunnel here. */
  readonly websocket: boolean;
  /** Returns true if a page of this origin may open a WebSocket; `undefined` where no handshake is taken. */
  readonly allowsOrigin: ((origin: string, isSameHost: boolean) => boolean) | undefined;
  readonly login: LoginRule | undefined;
  /** `report`: what does not fit is let through, and told in the log only. */
  readonly validation: 'enforce' | 'report';
  /** Whether a name is the manifest's own: of the names in a client's body no others are put in the log. */
  readonly isManifestName: (name: string) => boolean;
  /** What the path's parameters, the query and the headers must be; `undefined`: anything. */
  readonly parameters: ParameterRules | undefined;
  readonly body: BodyRule | undefined;
}

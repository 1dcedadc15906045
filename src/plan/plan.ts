import type { Route } from './route-definition.ts';
import type { Router } from './routing/router.ts';
import type { ListenAddress } from './settings/address.ts';
import type { AdminSettings } from './settings/admin.ts';
import type { Cors } from './settings/cors.ts';
import type { ReloadSettings } from './settings/reload.ts';
import type { ServerSettings } from './settings/server.ts';
import type { Upstream } from './settings/upstream-definition.ts';
import type { Auth } from './tokens/auth.ts';

/**
 * What a request needs, made once from a manifest. A plan is frozen: the gateway changes by replacing it.
 * These are the only things of this folder that the gateway's code may know.
 */
export interface Plan {
  /** SHA-256 of the manifest's text, in hex. */
  readonly hash: string;
  readonly listen: ListenAddress;
  readonly admin: AdminSettings | undefined;
  readonly server: ServerSettings;
  readonly upstreams: readonly Upstream[];
  /** In the manifest's order. */
  readonly routes: readonly Route[];
  readonly router: Router;
  readonly reload: ReloadSettings;
  /** Present as soon as one route is protected or has a login gate. */
  readonly auth: Auth | undefined;
  /** All schemas as they are written, for who describes the routes; references stay inside of it. */
  readonly schemas: Readonly<Record<'schemas' | 'routes' | 'files', unknown>> | undefined;
  /** The share of requests answered 2xx that have a line in the log: from 0 to 1. */
  readonly sample2xx: number;
  /** The share of the traces begun here that are marked as sampled: from 0 to 1. */
  readonly sampledTraces: number;
  /** `undefined`: nothing is done about other origins. */
  readonly cors: Cors | undefined;
}

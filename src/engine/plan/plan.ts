import type { LogSettings } from '../log/log-settings.ts';
import type { RateLimit } from '../rate-limits/rate-limit.ts';
import type { Router } from '../routing/router.ts';
import type { SchemaCompilations } from '../schema/value-validator.ts';
import type { ListenAddress } from '../settings/address.ts';
import type { AdminSettings } from '../settings/admin.ts';
import type { CertificateFile } from '../settings/compile-context.ts';
import type { Cors } from '../settings/cors.ts';
import type { ReloadSettings, ServerSettings } from '../settings/server.ts';
import type { Upstream } from '../settings/upstream-definition.ts';
import type { Auth } from '../tokens/verifier.ts';
import type { Route } from './route-definition.ts';

/** The compiled manifest: everything that requests need. A plan is frozen; the gateway changes its behaviour by replacing the plan. */
export interface Plan {
  /** SHA-256 of the manifest's text, in hex. */
  readonly hash: string;
  readonly listen: ListenAddress;
  readonly admin: AdminSettings | undefined;
  readonly server: ServerSettings;
  readonly certificates: readonly CertificateFile[];
  readonly upstreams: readonly Upstream[];
  /** In the manifest's order. */
  readonly routes: readonly Route[];
  readonly router: Router;
  /** In the manifest's order. */
  readonly rateLimits: readonly RateLimit[];
  readonly reload: ReloadSettings;
  /** Present if the manifest has `auth`, which protected routes and login gates need. */
  readonly auth: Auth | undefined;
  /** All schemas, redacted, for descriptions of the routes; references never leave this value. */
  readonly schemas: Readonly<Record<'schemas' | 'routes' | 'files', unknown>> | undefined;
  /** The state of the schemas: most are compiled when a request first needs them. */
  readonly compilations: SchemaCompilations | undefined;
  readonly log: LogSettings;
  /** The share of the traces started by the gateway that are marked as sampled: from 0 to 1. */
  readonly sampledTraces: number;
  /** `undefined`: the gateway does not handle CORS. */
  readonly cors: Cors | undefined;
  /** True if the plan adds headers to responses: those of CORS, of rate limits, or of the server. */
  readonly addsHeaders: boolean;
}

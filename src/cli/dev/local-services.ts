import type { PlannedManifest } from '../../engine/load.ts';
import type { Manifest } from '../../engine/manifest/manifest.generated.ts';
import { claimsOfRole } from '../../prove/offline/role-claims.ts';
import { startEcho } from '../../sandbox/echo.ts';
import type { LocalServer } from '../../sandbox/local-server.ts';
import { createSandbox, type Sandbox, type SandboxOptions, sandboxEnvironment } from '../../sandbox/sandbox.ts';
import { startTokenIssuer, type TokenIssuer } from '../../sandbox/token-issuer.ts';
import { CommandError } from '../terminal.ts';

/** The services that `dev` starts behind a gateway, and the variables through which the manifest finds them. */
export interface LocalServices extends AsyncDisposable {
  readonly sandbox: Sandbox | undefined;
  readonly echo: LocalServer | undefined;
  readonly issuer: TokenIssuer | undefined;
  /** Only variables that the manifest has and the caller has not set. */
  readonly environment: Readonly<Record<string, string>>;
}

const ECHO_PORT = 7003;
const ISSUER_PORT = 7004;
const SANDBOX = sandboxEnvironment('http://127.0.0.1:7001', 'http://127.0.0.1:7002');

const PLACEHOLDERS: Readonly<Record<string, string>> = { ...SANDBOX, ECHO_URL: `http://127.0.0.1:${ECHO_PORT}` };

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Returns an environment with which a manifest can be loaded before the services are started, to find out which of them it
 * needs. An empty variable counts as not set, as in a manifest.
 */
export function withPlaceholders(env: Variables): Variables {
  return { ...env, ...Object.fromEntries(Object.entries(PLACEHOLDERS).filter(([name]) => !env[name])) };
}

/** The needs of a manifest. */
export interface NeededServices {
  /** The variables of the manifest that the services set. */
  readonly variables: readonly string[];
  readonly sandbox: boolean;
  readonly echo: boolean;
  /** The rules for tokens of the issuer; `undefined` if the manifest needs no issuer. */
  readonly jwt: Jwt | undefined;
}

type Jwt = NonNullable<NonNullable<Manifest['auth']>['tokens']['jwt']>;

/** Returns the services that a manifest refers to by variables that the caller has not set. */
export function findNeededServices(
  { manifest, secrets }: Pick<PlannedManifest, 'manifest' | 'secrets'>,
  env: Variables,
): NeededServices {
  const names = Object.keys(PLACEHOLDERS).filter((name) => secrets.variables.has(name) && !env[name]);
  // The keys alone do not need the platform: its tokens would not have the issuer and the roles of the manifest.
  const sandbox = names.some((name) => name in SANDBOX && name !== 'JWKS_URL');
  const jwt = sandbox || !names.includes('JWKS_URL') ? undefined : manifest.auth?.tokens.jwt;
  const hasIssuer = jwt?.algorithms.includes('ES256') === true;
  const variables = names.filter((name) => name !== 'JWKS_URL' || sandbox || hasIssuer);
  return { variables, sandbox, echo: names.includes('ECHO_URL'), jwt: hasIssuer ? jwt : undefined };
}

/** Starts the services. Throws a `CommandError` if a port of the sandbox that the caller chose is in use. */
export async function startServices(
  needed: NeededServices,
  { auth }: Manifest,
  options: SandboxOptions,
): Promise<LocalServices> {
  await using started = new AsyncDisposableStack();
  const own = <Service extends LocalServer | Sandbox>(service: Service) =>
    started.adopt(service, (each) => each.close());
  const sandbox = needed.sandbox ? own(await createSandbox(options)) : undefined;
  if (sandbox !== undefined) checkPorts(sandbox, options);
  const echo = needed.echo ? own(await startEcho(ECHO_PORT)) : undefined;
  const { jwt } = needed;
  const issuer =
    jwt &&
    own(
      await startTokenIssuer(ISSUER_PORT, {
        issuer: jwt.issuer,
        audience: jwt.audience,
        type: jwt.type ?? 'JWT',
        claimsOfRole: (role) => (auth === undefined ? {} : claimsOfRole(auth.role, role)),
      }),
    );
  const addresses: Readonly<Record<string, string | undefined>> = {
    ...(issuer && { JWKS_URL: issuer.jwksUrl }),
    ...(echo && { ECHO_URL: echo.url }),
    ...sandbox?.environment,
  };
  const environment = Object.fromEntries(needed.variables.map((name) => [name, addresses[name] ?? '']));
  const services = started.move();
  return { sandbox, echo, issuer, environment, [Symbol.asyncDispose]: () => services.disposeAsync() };
}

function checkPorts(
  { identityUrl, platformUrl }: Sandbox,
  { identityPort = 0, platformPort = 0 }: SandboxOptions,
): void {
  for (const [url, port] of [
    [identityUrl, identityPort],
    [platformUrl, platformPort],
  ] as const)
    if (port !== 0 && Number(new URL(url).port) !== port)
      throw new CommandError(`port ${port} is in use; choose other ports with --sandbox-ports`);
}

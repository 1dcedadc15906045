import type { PlannedManifest } from '../../engine/load.ts';
import { tokenEntries } from '../../engine/tokens/token-entries.ts';
import { callerOfRole } from '../../prove/offline/role-claims.ts';
import { startEcho } from './echo.ts';
import { startTokenIssuer } from './token-issuer.ts';

const ECHO_PORT = 7003;
const ISSUER_PORT = 7004;

/** The variables of upstreams in the manifest that `init` writes, and in the manifest of the platform. */
const UPSTREAM_VARIABLES = [
  ...['ECHO_URL', 'IDENTITY_URL', 'WORKFLOWS_URL', 'CONTACTS_URL', 'CERTIFICATES_URL', 'DOCUMENTS_URL', 'EDM_URL'],
  ...['AUDIT_URL', 'NOTIFICATIONS_URL', 'AI_URL'],
];
const KEYS_VARIABLE = 'JWKS_URL';

type Variables = Readonly<Record<string, string | undefined>>;

/** Returns an environment with which a manifest loads before its services are started. An empty variable counts as not set. */
export function withPlaceholders(env: Variables): Variables {
  const unset = [KEYS_VARIABLE, ...UPSTREAM_VARIABLES].filter((name) => !env[name]);
  return { ...env, ...Object.fromEntries(unset.map((name) => [name, `http://127.0.0.1:${ECHO_PORT}`])) };
}

/** The services that `dev` starts behind a gateway, and the variables through which the manifest finds them. */
export type LocalServices = Awaited<ReturnType<typeof startServices>>;

/** Starts the services that a manifest refers to by variables that the caller has not set. */
export async function startServices({ manifest, secrets }: PlannedManifest, env: Variables) {
  const isNeeded = (name: string) => secrets.variables.has(name) && !env[name];
  const method = isNeeded(KEYS_VARIABLE) ? tokenEntries(manifest.auth).find(({ kind }) => kind === 'jwt') : undefined;
  const jwt = method?.kind === 'jwt' ? method.entry : undefined;
  const issuer = jwt?.algorithms.includes('ES256')
    ? await startTokenIssuer(ISSUER_PORT, {
        issuer: jwt.issuer,
        audience: jwt.audience,
        type: jwt.type ?? 'JWT',
        claimsOfRole: (role) => callerOfRole(manifest, role, method?.name).claims,
      })
    : undefined;
  const upstreams = UPSTREAM_VARIABLES.filter(isNeeded);
  const echo = upstreams.length > 0 ? await startEcho(ECHO_PORT) : undefined;
  const environment: Readonly<Record<string, string>> = {
    ...(issuer && { [KEYS_VARIABLE]: issuer.jwksUrl }),
    ...(echo && Object.fromEntries(upstreams.map((name) => [name, echo.url]))),
  };
  return {
    echo,
    issuer,
    environment,
    close: () => Promise.all([echo?.close(), issuer?.close()]),
  };
}

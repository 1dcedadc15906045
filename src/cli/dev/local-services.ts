import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PlannedManifest } from '../../engine/load.ts';
import { tokenEntries } from '../../engine/tokens/token-entries.ts';
import { callerOfRole } from '../../prove/offline/role-claims.ts';
import { startLocalServer, startTokenIssuer } from './token-issuer.ts';

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
  const echo = upstreams.length > 0 ? await startLocalServer(ECHO_PORT, echoRequest) : undefined;
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

/** Longer bodies are counted, not repeated. */
const MAX_BODY_BYTES = 65_536;

/** Responds with 200 and the request as it received it, in JSON. */
async function echoRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (length < MAX_BODY_BYTES) chunks.push(chunk);
    length += chunk.length;
  }
  const received = {
    method: request.method,
    url: request.url,
    headers: headersOf(request),
    bodyBytes: length,
    body: Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES).toString(),
  };
  const text = `${JSON.stringify(received, null, 2)}\n`;
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.end(text);
}

/** Returns the headers with their names as sent. A repeated header has a list of values. */
function headersOf({ rawHeaders }: IncomingMessage): Record<string, string | string[]> {
  const headers = new Map<string, string[]>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    headers.set(name, [...(headers.get(name) ?? []), value]);
  }
  return Object.fromEntries(
    [...headers].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  );
}

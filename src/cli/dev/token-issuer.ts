import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose/jwt/sign';
import { loadHttp } from '../../engine/node-internals/built-in-modules.ts';

/** An HTTP server on 127.0.0.1. */
type LocalServer = Awaited<ReturnType<typeof startLocalServer>>;

/** Starts a server on this port or, if it is in use, on a free one. */
export async function startLocalServer(
  port: number,
  respond: (...exchange: Parameters<RequestListener>) => Promise<void>,
) {
  const server = loadHttp().createServer((request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    await once(server.listen(0, '127.0.0.1'), 'listening');
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Closes all connections, including those with requests in progress. */
    close: async () => {
      const closed = once(server, 'close');
      server.close().closeAllConnections();
      await closed;
    },
  };
}

/** The claims of the tokens that a manifest accepts. */
interface TokenProfile {
  readonly issuer: string;
  readonly audience: string | string[];
  /** The `typ` of the header. */
  readonly type: string;
  readonly claimsOfRole: (role: string) => Readonly<Record<string, unknown>>;
}

export interface TokenIssuer extends LocalServer {
  readonly jwksUrl: string;
  /** Returns the address that responds with a token of this role. */
  readonly tokenUrl: (role: string) => string;
}

const ALGORITHM = 'ES256';
const KEY_ID = 'local';
const LIFETIME = '1h';

/** Starts a stand-in for an identity service: its keys, and tokens of any role. The key is new at each start. */
export async function startTokenIssuer(port: number, profile: TokenProfile): Promise<TokenIssuer> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, alg: ALGORITHM, use: 'sig' }];
  const server = await startLocalServer(port, (request, response) =>
    respond(request, response, { keys }, (role) => issueToken(profile, role, privateKey)),
  );
  return {
    ...server,
    jwksUrl: `${server.url}/.well-known/jwks.json`,
    tokenUrl: (role) => `${server.url}/token?role=${encodeURIComponent(role)}`,
  };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  jwks: object,
  createToken: (role: string) => Promise<string>,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const role = searchParams.get('role');
  if (pathname === '/.well-known/jwks.json') {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(jwks));
  } else if (pathname === '/token' && role !== null) {
    response.setHeader('content-type', 'text/plain').end(await createToken(role));
  } else {
    response.writeHead(404).end('request /token?role=ROLE or /.well-known/jwks.json\n');
  }
}

function issueToken({ issuer, audience, type, claimsOfRole }: TokenProfile, role: string, key: KeyObject) {
  return new SignJWT(claimsOfRole(role))
    .setProtectedHeader({ alg: ALGORITHM, typ: type, kid: KEY_ID })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(`local-${role}`)
    .setIssuedAt()
    .setNotBefore('0s')
    .setExpirationTime(LIFETIME)
    .setJti(randomUUID())
    .sign(key);
}

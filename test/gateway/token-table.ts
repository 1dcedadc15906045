import { AUDIENCE, ISSUER, type Issuer, startIssuer } from '../support/issuer.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const now = Math.floor(Date.now() / 1000);

/** Tokens by kind: the claims of a JWT, and the response of the identity server to an opaque token. */
const TOKENS: Readonly<Record<string, { jwt: Record<string, unknown>; response: unknown }>> = {
  valid: { jwt: {}, response: { company_role: 'user' } },
  'with the admin role': { jwt: { company_role: 'admin' }, response: { company_role: 'admin' } },
  'with another role': { jwt: { company_role: 'auditor' }, response: { company_role: 'auditor' } },
  'with a role in capitals': { jwt: { company_role: 'ADMIN' }, response: { company_role: 'ADMIN' } },
  'with a list of roles': { jwt: { company_role: ['admin'] }, response: { company_role: ['admin'] } },
  'without a role': { jwt: { company_role: undefined }, response: {} },
  expired: { jwt: { exp: now - 60 }, response: { company_role: 'user', exp: now - 60 } },
  'not valid yet': { jwt: { nbf: now + 60 }, response: { company_role: 'user', nbf: now + 60 } },
  'from another issuer': {
    jwt: { iss: 'https://evil.test' },
    response: { company_role: 'user', iss: 'https://evil.test' },
  },
  'for another audience': { jwt: { aud: 'you' }, response: { company_role: 'user', aud: 'you' } },
  refused: { jwt: { exp: 1 }, response: 'refused' },
  'of an unreachable issuer': { jwt: {}, response: 'down' },
};

/** The status of a public route, a protected one, and a login that returns the token. */
type Row = readonly [open: number, closed: number, login: number];
const ACCEPTED: Row = [200, 200, 200];
const REFUSED: Row = [200, 401, 502];
const FORBIDDEN: Row = [200, 403, 403];
const UNAVAILABLE: Row = [200, 503, 503];

/** The expected statuses of each kind of token, by method. */
export const TABLE: Readonly<Record<string, Readonly<Record<'jwt' | 'introspection' | 'userinfo', Row>>>> = {
  none: { jwt: [200, 401, 200], introspection: [200, 401, 200], userinfo: [200, 401, 200] },
  malformed: { jwt: REFUSED, introspection: REFUSED, userinfo: REFUSED },
  unknown: { jwt: REFUSED, introspection: REFUSED, userinfo: REFUSED },
  forged: { jwt: REFUSED, introspection: REFUSED, userinfo: REFUSED },
  valid: { jwt: ACCEPTED, introspection: ACCEPTED, userinfo: ACCEPTED },
  'with the admin role': { jwt: ACCEPTED, introspection: ACCEPTED, userinfo: ACCEPTED },
  'with another role': { jwt: FORBIDDEN, introspection: FORBIDDEN, userinfo: FORBIDDEN },
  'with a role in capitals': { jwt: FORBIDDEN, introspection: FORBIDDEN, userinfo: FORBIDDEN },
  'with a list of roles': { jwt: FORBIDDEN, introspection: FORBIDDEN, userinfo: FORBIDDEN },
  'without a role': { jwt: FORBIDDEN, introspection: FORBIDDEN, userinfo: FORBIDDEN },
  expired: { jwt: REFUSED, introspection: REFUSED, userinfo: REFUSED },
  'not valid yet': { jwt: REFUSED, introspection: REFUSED, userinfo: REFUSED },
  // The userinfo endpoint belongs to one issuer, so `iss` and `aud` in its response are not checked.
  'from another issuer': { jwt: REFUSED, introspection: REFUSED, userinfo: ACCEPTED },
  'for another audience': { jwt: REFUSED, introspection: REFUSED, userinfo: ACCEPTED },
  refused: { jwt: REFUSED, introspection: REFUSED, userinfo: REFUSED },
  // The gateway has the keys cached and sends no request.
  'of an unreachable issuer': { jwt: ACCEPTED, introspection: UNAVAILABLE, userinfo: UNAVAILABLE },
};

const manifestOf = (tokens: object, up: string, identity: string) => `version: 1
listen: 127.0.0.1:0
upstreams:
  up: { url: '${up}' }
  identity: { url: '${identity}' }
auth:
  tokens: ${JSON.stringify(tokens)}
  role: { claim: /company_role, allow: [admin, user], message: admins and users only }
routes:
  - { id: open, method: GET, path: /open, upstream: up, access: public }
  - { id: closed, method: GET, path: /closed, upstream: up, access: protected }
  - { id: login, method: POST, path: /login, upstream: up, access: public, login: { token: /data/access_token } }
`;

/** An identity service for all methods, an upstream, and the tokens of the table. */
export interface TokenServices {
  readonly issuer: Issuer;
  readonly identity: Upstream;
  readonly up: Upstream;
  readonly tokens: Readonly<Record<string, { readonly jwt: string; readonly opaque: string }>>;
  /** The manifests by method. They need `TOKEN_ENV`. */
  readonly manifests: Readonly<Record<'jwt' | 'introspection' | 'userinfo', string>>;
  close(): Promise<void>;
}

export const TOKEN_ENV = { SECRET: 'secret' };

export async function startTokenServices(): Promise<TokenServices> {
  const tokens: Record<string, { jwt: string; opaque: string }> = {};
  const issuer = await startIssuer();
  const identity = await startUpstream((request, response, body) => {
    const isForm = request.method === 'POST';
    const bearer = request.headers.authorization?.slice('Bearer '.length) ?? '';
    const token = isForm ? (new URLSearchParams(body.toString()).get('token') ?? '') : bearer;
    const kind = Object.keys(tokens).find((name) => tokens[name]?.opaque === token) ?? 'refused';
    const result = TOKENS[kind]?.response ?? 'refused';
    response.setHeader('Content-Type', 'application/json');
    if (result === 'down') return void response.socket?.destroy();
    if (result === 'refused') response.statusCode = isForm ? 200 : 401;
    const common = { active: true, iss: ISSUER, aud: AUDIENCE, sub: 'someone' };
    response.end(JSON.stringify(result === 'refused' ? { active: false } : { ...common, ...(result as object) }));
  });
  // The login returns the token of its request body, or no token, as an MFA challenge does.
  const up = await startUpstream((_request, response, body) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(body.length === 0 ? {} : { data: { access_token: body.toString() } }));
  });
  const common = { issuer: ISSUER, audience: AUDIENCE };
  const endpoint = (path: string) => ({ upstream: 'identity', path });
  const methods = {
    jwt: { jwks: issuer.jwksUrl, algorithms: ['ES256'], ...common },
    introspection: { endpoint: endpoint('/introspect'), clientId: 'gateway', clientSecret: '${SECRET}', ...common },
    userinfo: { endpoint: endpoint('/me') },
  };
  for (const [kind, { jwt }] of Object.entries(TOKENS))
    tokens[kind] = { jwt: await issuer.token(jwt), opaque: `opaque-${kind.replaceAll(' ', '-')}` };
  const [first = '', second = ''] = (await issuer.token()).split('.');
  tokens['forged'] = { jwt: `${first}.${second}.${'A'.repeat(86)}`, opaque: 'opaque-forged' };
  tokens['unknown'] = { jwt: await issuer.token({}, { kid: 'nobody' }), opaque: 'opaque-unknown' };
  tokens['malformed'] = { jwt: 'a.b', opaque: 'a b' };
  const manifest = (method: keyof typeof methods) => manifestOf({ [method]: methods[method] }, up.url, identity.url);
  return {
    issuer,
    identity,
    up,
    tokens,
    manifests: {
      jwt: manifest('jwt'),
      introspection: manifest('introspection'),
      userinfo: manifest('userinfo'),
    },
    close: async () => {
      await Promise.all([issuer.close(), identity.close(), up.close()]);
    },
  };
}

/** The choices for a starter manifest. */
export interface Starter {
  /** The URL of the upstream, which may refer to variables. */
  readonly upstreamUrl: string;
  /** A comment for the upstream; may be empty. */
  readonly upstreamComment: string;
  /** The path that everyone may request. */
  readonly publicPath: string;
  /** True if the gateway runs in a container, where a listener on loopback is not reachable. */
  readonly isContainer: boolean;
}

/** The path below which every request needs a token. A public path in it would be an exception, so it moves away. */
function protectedPrefix({ publicPath }: Starter): string {
  // The router refuses other spellings of a protected path, such as /API.
  return /^\/api\.*(?:\/|$)/i.test(publicPath) ? '/private' : '/api';
}

/** The path below which nothing is served. */
function hiddenPrefix({ publicPath }: Starter): string {
  return /^\/internal\.*(?:\/|$)/i.test(publicPath) ? '/hidden' : '/internal';
}

/** Returns a starter manifest with a public and a protected route. */
export function starterManifest(schema: string, starter: Starter): string {
  const { upstreamUrl, upstreamComment, publicPath, isContainer } = starter;
  const listen = isContainer
    ? `# gateway-disable-next-line listen-exposed -- other machines reach only the published ports of a container
listen: \${LISTEN:-0.0.0.0:8080}`
    : 'listen: ${LISTEN:-127.0.0.1:8080}';
  const server = isContainer
    ? `
# One worker for each processor that the container may use. Set WORKERS=1 for the sidecar of one application.
server:
  workers: \${WORKERS:-auto}
`
    : '';
  return `# yaml-language-server: $schema=${schema}
version: 1
${listen}
admin: \${ADMIN:-127.0.0.1:9901}
${server}
upstreams:
${upstreamComment === '' ? '' : `  # ${upstreamComment}\n`}  api:
    url: ${upstreamUrl}
    timeouts: { connect: 2s, response: 30s, idle: 60s }

# How callers of protected routes are authenticated.
auth:
  tokens:
    jwt:
      jwks: \${JWKS_URL:-https://identity.example/.well-known/jwks.json}
      algorithms: [ES256]
      issuer: \${TOKEN_ISSUER:-https://identity.example}
      audience: \${TOKEN_AUDIENCE:-api}
      requiredClaims: [sub]
  role:
    claim: /role
    allow: [admin, user]
    message: admins and users only

# Rules about all requests. The gateway proves them, and activates no manifest that breaks one.
invariants:
  - id: only-public-is-public
    when: { access: public }
    except: [public]
    require: { access: protected }
    why: everything else requires a token
  - id: roles-are-checked
    when: { path: ${protectedPrefix(starter)}/** }
    require: { roles: { only: [admin, user] } }
  - id: nothing-below${hiddenPrefix(starter).replace('/', '-')}
    when: { path: ${hiddenPrefix(starter)}/** }
    require: { served: false }

routes:
  # Anyone may send GET to this path.
  - id: public
    method: GET
    path: ${publicPath}
    upstream: api
    access: public

  # Everything here requires a token with an allowed role.
  - id: protected
    method: any
    path: ${protectedPrefix(starter)}/**
    upstream: api
    access: protected
`;
}

/** Returns a test file that covers the complete starter manifest and notices every change of it that `test --mutate` makes. */
export function starterTestFile(schema: string, manifest: string, starter: Starter): string {
  const { publicPath: open } = starter;
  const closed = protectedPrefix(starter);
  const below = open === '/' ? '' : open;
  const parent = open.slice(0, open.lastIndexOf('/'));
  const sibling = `${parent}/other` === open ? `${parent}/another` : `${parent}/other`;
  const others = open === '/' ? sibling : `[${sibling}, ${open}/other]`;
  return `# yaml-language-server: $schema=${schema}
version: 1
manifest: ${manifest}

cases:
  - name: anyone may send GET to the public path
    request: { method: GET, url: ${open} }
    expect: { route: public, status: 200, upstream: { id: api, url: ${open} } }

  - name: every method and path below ${closed} requires a token
    request: { method: [GET, POST, PUT, PATCH, DELETE], url: [${closed}/contacts, ${closed}/contacts/7, ${closed}/contacts/7/notes] }
    expect: { route: protected, refusal: token_missing, status: 401, headers: { WWW-Authenticate: 'Bearer realm="signing-gateway"' }, upstream: null }

  - name: admins and users may call the protected routes
    request: { method: GET, url: '${closed}/contacts?page=2', role: [admin, user] }
    expect: { route: protected, status: 200, upstream: { id: api, url: '${closed}/contacts?page=2' } }

  - name: the claim "role" has the role
    request: { method: GET, url: ${closed}/contacts, claims: { role: admin } }
    expect: { route: protected, status: 200 }

  - name: other roles may not call the protected routes
    request: { method: GET, url: ${closed}/contacts, role: guest }
    expect: { route: protected, refusal: role_not_allowed, status: 403, message: admins and users only, upstream: null }

  - name: other paths are refused
    request: { method: GET, url: ${others} }
    expect: { route: null, refusal: route_unknown, status: 404, upstream: null }

  - name: other methods are refused
    request: { method: [POST, PUT, PATCH, DELETE, OPTIONS], url: ${open} }
    expect: { refusal: method_not_allowed, status: 405, upstream: null }

  - name: an ambiguous path is refused
    request: { method: GET, url: [${below}/../private/contacts, ${closed}/a%2Fb], role: user }
    expect: { refusal: path_ambiguous, status: 400, upstream: null }

  - name: clients cannot open a WebSocket or override the method
    request: { method: GET, url: [${open}, ${closed}/contacts], role: user, headers: { Connection: Upgrade, Upgrade: websocket, Sec-WebSocket-Version: '13', Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==, X-HTTP-Method-Override: DELETE } }
    expect: { status: 200, upstream: { headers: { Upgrade: null, X-HTTP-Method-Override: null } } }

  - name: clients cannot choose their address (127.0.0.1, which must not be in trustedProxies)
    request: { method: GET, url: ${closed}/contacts, role: user, headers: { X-Forwarded-For: 192.0.2.1 } }
    expect: { status: 200, upstream: { headers: { X-Forwarded-For: 127.0.0.1 } } }
`;
}

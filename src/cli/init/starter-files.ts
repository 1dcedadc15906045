/** Returns a starter manifest with a public and a protected route. */
export function starterManifest(schema: string): string {
  return `# yaml-language-server: $schema=${schema}
version: 1
listen: \${LISTEN:-127.0.0.1:8080}
admin: \${ADMIN:-127.0.0.1:9901}

upstreams:
  api:
    url: \${API_URL:-http://127.0.0.1:7000}
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

routes:
  # Anyone may request the status.
  - id: status
    method: GET
    path: /status
    upstream: api
    access: public

  # All of the API requires a token with an allowed role.
  - id: api
    method: any
    path: /api/**
    upstream: api
    access: protected
`;
}

/** Returns a test file that covers the complete starter manifest and notices every change of it that `test --mutate` makes. */
export function starterTestFile(schema: string, manifest: string): string {
  return `# yaml-language-server: $schema=${schema}
version: 1
manifest: ${manifest}

cases:
  - name: anyone may request the status
    request: { method: GET, url: /status }
    expect: { route: status, status: 200, upstream: { id: api, url: /status } }

  - name: every method and path of the API requires a token
    request: { method: [GET, POST, PUT, PATCH, DELETE], url: [/api/contacts, /api/contacts/7, /api/contacts/7/notes] }
    expect: { route: api, refusal: token_missing, status: 401, headers: { WWW-Authenticate: 'Bearer realm="signing-gateway"' }, upstream: null }

  - name: admins and users may call the API
    request: { method: GET, url: '/api/contacts?page=2', role: [admin, user] }
    expect: { route: api, status: 200, upstream: { id: api, url: '/api/contacts?page=2' } }

  - name: the claim "role" has the role
    request: { method: GET, url: /api/contacts, claims: { role: admin } }
    expect: { route: api, status: 200 }

  - name: other roles may not call the API
    request: { method: GET, url: /api/contacts, role: guest }
    expect: { route: api, refusal: role_not_allowed, status: 403, message: admins and users only, upstream: null }

  - name: other paths are refused
    request: { method: GET, url: [/other, /status/other] }
    expect: { route: null, refusal: route_unknown, status: 404, upstream: null }

  - name: other methods are refused, also for pages of other origins
    request: { method: [POST, PUT, PATCH, DELETE, OPTIONS], url: /status, headers: { Origin: https://other.example, Access-Control-Request-Method: GET } }
    expect: { refusal: method_not_allowed, status: 405, headers: { Access-Control-Allow-Origin: null }, upstream: null }

  - name: an ambiguous path is refused
    request: { method: GET, url: [/status/../api/contacts, /api/a%2Fb], role: user }
    expect: { refusal: path_ambiguous, status: 400, upstream: null }

  - name: clients cannot open a WebSocket, override the method or choose their address
    request: { method: GET, url: [/status, /api/contacts], role: user, headers: { Connection: Upgrade, Upgrade: websocket, Sec-WebSocket-Version: '13', Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==, X-HTTP-Method-Override: DELETE, X-Forwarded-For: 192.0.2.1 } }
    expect: { status: 200, upstream: { headers: { Upgrade: null, X-HTTP-Method-Override: null, X-Forwarded-For: 127.0.0.1 } } }
`;
}

/** A manifest to begin with: a public route, and a protected one. */
export function starterManifest(schema: string): string {
  return `# yaml-language-server: $schema=${schema}
version: 1
listen: \${LISTEN:-127.0.0.1:8080}
admin: \${ADMIN:-127.0.0.1:9901}

upstreams:
  api:
    url: \${API_URL:-http://127.0.0.1:7000}
    timeouts: { connect: 2s, response: 30s, idle: 60s }

# How the callers of protected routes are known.
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
  # Anyone may ask for this.
  - id: status
    method: GET
    path: /status
    upstream: api
    access: public

  # Everything of the API takes a token with an allowed role.
  - id: api
    method: any
    path: /api/**
    upstream: api
    access: protected
`;
}

/** A test file for it, which covers all of it. */
export function starterTestFile(schema: string, manifest: string): string {
  return `# yaml-language-server: $schema=${schema}
version: 1
manifest: ${manifest}

cases:
  - name: anyone may ask for the status
    request: { method: GET, url: /status }
    expect: { route: status, status: 200, upstream: { id: api, url: /status } }

  - name: the API takes a token
    request: { method: GET, url: /api/contacts }
    expect: { route: api, refusal: token_missing, status: 401, upstream: null }

  - name: admins and users pass
    request: { method: GET, url: '/api/contacts?page=2', role: [admin, user] }
    expect: { route: api, status: 200, upstream: { id: api, url: '/api/contacts?page=2' } }

  - name: other roles do not pass
    request: { method: GET, url: /api/contacts, role: guest }
    expect: { route: api, refusal: role_not_allowed, status: 403, message: admins and users only, upstream: null }

  - name: other paths are unknown
    request: { method: GET, url: /other }
    expect: { route: null, refusal: route_unknown, status: 404, upstream: null }

  - name: the status is not written
    request: { method: POST, url: /status }
    expect: { refusal: method_not_allowed, status: 405, upstream: null }

  - name: a path that can be read in two ways is refused
    request: { method: GET, url: /status/../api/contacts }
    expect: { refusal: path_ambiguous, status: 400, upstream: null }
`;
}

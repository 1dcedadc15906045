/** A project with an included file, invariants of another team, and test files. */
export const PROJECT: Readonly<Record<string, string>> = {
  'gateway.yaml': `version: 1
listen: 127.0.0.1:8080
include: routes/*.yaml
invariants: { file: ../security/invariants.yaml }
upstreams:
  contacts: { url: http://127.0.0.1:7001, health: { connect: true } }
  identity: { url: http://127.0.0.1:7002, health: { connect: true } }
auth:
  tokens:
    userinfo: { endpoint: { upstream: identity, path: /me } }
  role: { claim: /role, allow: [admin, user], message: admins and users only }
rateLimits:
  caller: { key: subject, allow: 600 per 1m }
  address: { key: client, allow: 30 per 1m }
schemas:
  Contact:
    type: object
    required: [name]
    properties: { name: { type: string, maxLength: 100 } }
    additionalProperties: false
routes:
  - id: contacts-list
    method: GET
    path: /contacts
    upstream: contacts
    access: protected
    rateLimits: [caller]
  - id: contacts-create
    method: POST
    path: /contacts
    upstream: contacts
    access: protected
    roles: [admin]
    body: { maxBytes: 64KB, schema: { $ref: '#/schemas/Contact' } }
  - id: status
    method: GET
    path: /status
    upstream: identity
    access: public
    rateLimits: [address]
`,
  'routes/contacts.yaml': `upstreams:
  archive: { url: http://127.0.0.1:7003, health: { connect: true } }
routes:
  - id: contacts-read
    method: GET
    path: /contacts/{id}
    upstream: contacts
    access: protected
  - id: contacts-own
    method: GET
    path: /contacts/me
    upstream: archive
    access: protected
    rateLimits: [caller]
`,
  '../security/invariants.yaml': `invariants:
  - id: contacts-are-private
    when: { upstream: [contacts, identity] }
    except: [status]
    require: { access: protected }
    why: contacts are personal data
  - id: public-is-limited
    when: { access: public }
    require: { rateLimit: [address] }
`,
  'test/gateway.test.yaml': `version: 1
manifest: ../gateway.yaml
tokens:
  token-of-an-admin: { role: admin }
cases:
  - name: the list needs a token
    request: { method: GET, url: /contacts }
    expect: { route: contacts-list, refusal: token_missing, status: 401 }
  - name: an admin reads a contact
    request: { method: GET, url: /contacts/1, role: admin }
    expect: { route: contacts-read, status: 200, upstream: { id: contacts, url: /contacts/1 } }
`,
  'values.yaml': 'replicas: 3\nimage: { tag: latest }\n',
};

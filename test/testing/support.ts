import { load, type PlannedManifest } from '../../src/engine/load.ts';
import { worldOf } from '../support/gateway.ts';

/** The manifest of the test files in these tests. */
export const MANIFEST = `version: 1
upstreams: { contacts: { url: https://contacts.internal } }
auth:
  tokens: { jwt: { jwks: https://identity.internal/jwks.json, algorithms: [ES256], issuer: i, audience: a } }
  role: { claim: /company_role, allow: [admin, user], message: company admins and users only }
routes:
  - { id: login, method: POST, path: /login, upstream: contacts, access: public, login: { token: /token, header: X-Token } }
  - { id: contacts, method: any, path: /contacts/**, upstream: contacts, access: protected, upstreamPath: { replace: /contacts, with: /v2 } }
  - id: note
    method: POST
    path: /notes
    upstream: contacts
    access: public
    body: { schema: { type: object, required: [text], properties: { text: { type: string } } }, maxBytes: 64B }
    requestHeaders: { set: { X-Platform: signing }, remove: [X-Debug] }
`;

export function planned(text = MANIFEST, env: Record<string, string> = {}): PlannedManifest {
  const loaded = load({ path: 'gateway.yaml', text }, { ...worldOf(), env });
  if (loaded.plan === undefined) throw new Error(JSON.stringify(loaded.problems));
  return loaded;
}

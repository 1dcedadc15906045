import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import type { Verifier } from '../../src/engine/tokens/verifier.ts';
import { claims, ecKey, encode, keyFile, tokenOf } from '../plan/tokens/keys.ts';
import { startUpstreamServer, type UpstreamServer } from '../support/upstream.ts';

const page = readFileSync(new URL('../../docs/tokens.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
const SECRET = 'thirty-two bytes of a shared secret';

const key = ecKey('one');
const ed = generateKeyPairSync('ed25519');
let identity: UpstreamServer;

/** An identity service with keys, metadata, introspection and userinfo. */
beforeAll(async () => {
  identity = await startUpstreamServer((request, response) => {
    const pages: Readonly<Record<string, unknown>> = {
      '/jwks.json': JSON.parse(keyFile(key)),
      '/.well-known/openid-configuration': { issuer: identity.url, jwks_uri: `${identity.url}/jwks.json` },
      '/oauth/introspect': { active: true, aud: 'signing-gateway', sub: 'someone' },
      '/api/v1/me': { sub: 'someone' },
    };
    const isKnown = request.headers.authorization !== 'Bearer unknown';
    response.writeHead(isKnown ? 200 : 401, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(pages[request.url ?? '']));
  });
});

afterAll(() => identity.close());

function verifierOf(example: string): Verifier {
  // The private key of the public key on the page does not exist.
  const tokens = example.replace(/x: [\w-]+/, `x: ${ed.publicKey.export({ format: 'jwk' }).x}`);
  const text = `version: 1
upstreams: { identity: { url: '${identity.url}' } }
auth:
${tokens.replace(/^/gm, '  ').trimEnd()}
  role: { claim: /company_role, allow: [user], message: no }
routes: [{ id: all, method: any, path: /**, upstream: identity, access: protected }]
`;
  const env = {
    ISSUER: identity.url,
    JWKS_URL: `${identity.url}/jwks.json`,
    JWT_SECRET: SECRET,
    CLIENT_SECRET: 'secret',
  };
  const { plan, problems } = load({ path: 'gateway.yaml', text }, { env, readFile: () => keyFile(key) });
  if (plan?.auth === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  return plan.auth.verifier;
}

const payload = () => claims({ iss: identity.url, aud: 'signing-gateway' });

describe('docs/tokens.md', () => {
  it('has an example for every source of keys and tokens', () => expect(examples).toHaveLength(8));

  it.each(examples.map((text) => [text.split('\n').slice(1, 3).join(' ').trim(), text] as const))(
    '%s',
    async (_name, text) => {
      const verifier = verifierOf(text);
      const issuers = new Set(['staff', 'partners', 'sessions']);
      const valid = await verifier.verify(validToken(text), undefined, issuers);
      expect(valid).toHaveProperty('principal.claims.sub', 'someone');
      const invalidToken = /jwt:/.test(text)
        ? tokenOf({ alg: 'ES256', kid: 'one' }, payload(), ecKey('one'))
        : 'no token at all';
      expect(await verifier.verify(invalidToken, undefined, issuers)).toHaveProperty('code');
    },
  );
});

/** Returns a token that the method of an example accepts. */
function validToken(text: string): string {
  const [, algorithm = ''] = /algorithms: \[(\w+)\]/.exec(text) ?? [];
  if (algorithm === 'HS256') return signed('HS256', (input) => createHmac('sha256', SECRET).update(input).digest());
  if (algorithm === 'EdDSA') return signed('EdDSA', (input) => sign(null, input, ed.privateKey));
  return tokenOf({ alg: 'ES256', kid: 'one', typ: 'at+jwt' }, payload(), key);
}

function signed(alg: string, signer: (input: Buffer) => Buffer): string {
  const input = [{ alg }, payload()].map((part) => encode(JSON.stringify(part))).join('.');
  return `${input}.${signer(Buffer.from(input)).toString('base64url')}`;
}

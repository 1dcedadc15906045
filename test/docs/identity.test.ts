import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ecKey, rsaKey, type SigningKey, seconds, tokenOf } from '../plan/tokens/keys.ts';
import { runCli } from '../support/cli.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { head, sendRequest } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const page = readFileSync(new URL('../../docs/identity.md', import.meta.url), 'utf8');
const providers = page
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [auth = '', claims = '', cases = ''] = [...section.matchAll(/^```(?:yaml|json)\n([\s\S]*?)^```$/gm)].map(
      ([, text = '']) => text,
    );
    return { name: section.split('\n')[0] ?? '', section, auth, claims: JSON.parse(claims), cases };
  });

/** Returns a complete manifest with the keys in it in place of their address. */
function manifestWith(auth: string, upstream: string, { jwk }: SigningKey): string {
  return `version: 1
listen: 127.0.0.1:0
upstreams: { contacts: { url: '${upstream}' } }
${auth.replace(/discovery: .*/, `jwks: ${JSON.stringify({ keys: [jwk] })}`)}
routes: [{ id: contacts, method: POST, path: /api/contacts, upstream: contacts, access: protected }]
`;
}

/** Returns changes of a token that its provider makes by mistake, by the reason in the log. */
function mistakesOf(section: string): Readonly<Record<string, Record<string, unknown>>> {
  const all = {
    audience_wrong: { aud: 'account' },
    issuer_wrong: { iss: 'https://elsewhere.example/' },
    token_expired: { exp: seconds() - 60 },
  };
  return Object.fromEntries(Object.entries(all).filter(([reason]) => section.includes(`\`${reason}\``)));
}

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());

describe.each(providers)('docs/identity.md: $name', ({ section, auth, claims, cases }) => {
  const algorithm = /algorithms: \[(\w+)\]/.exec(auth)?.[1] ?? '';
  const key = algorithm === 'RS256' ? rsaKey('1') : ecKey('1');
  const typ = /type: (\S+)/.exec(auth)?.[1] ?? 'JWT';
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await startGateway(manifestWith(auth, upstream.url, key));
  });
  afterAll(() => gateway.close());

  /** Sends a token with these claims. Returns the status, and the reason in the log. */
  async function send(changes: Record<string, unknown>, header = { alg: algorithm, kid: '1', typ }) {
    const lines = gateway.lines.length;
    const payload = { ...claims, exp: seconds() + 600, ...changes };
    const token = tokenOf(header, payload, key);
    const request = head('POST /api/contacts HTTP/1.1', `Authorization: Bearer ${token}`, 'Content-Length: 0');
    const { status } = await sendRequest(gateway.port, request);
    await eventually('the access line', () => gateway.lines.length > lines);
    return [status, gateway.lines.at(-1)?.['reason']];
  }

  it('has a manifest that accepts the token of the page, and no token of another role', async () => {
    expect(await send({})).toEqual([200, undefined]);
    const none = { realm_access: undefined, roles: undefined, permissions: undefined, scope: undefined };
    expect((await send(none))[0]).toBe(403);
  });

  it('has mistakes with the reasons that the log shows', async () => {
    for (const [reason, changes] of Object.entries(mistakesOf(section)))
      expect(await send(changes)).toEqual([401, reason]);
    if (typ !== 'JWT') expect(await send({}, { alg: algorithm, kid: '1', typ: 'JWT' })).toEqual([401, 'type_wrong']);
  });

  it('has a test file that passes', async () => {
    const folder = temporaryFolder('identity', {
      'gateway.yaml': manifestWith(auth, 'http://127.0.0.1:9', key),
      'gateway.test.yaml': `version: 1\n${cases}`,
    });
    expect(await runCli(['test'], folder)).toMatchObject({ code: 0, out: expect.stringContaining('2 passed') });
  });
});

describe('docs/identity.md', () => {
  it('has locations of roles that are in other tokens', async () => {
    const scopes = { claim: '/scp', format: 'words', allow: '[access_as_user]' };
    expect(page).toContain(`claim: ${scopes.claim}, format: ${scopes.format}, allow: ${scopes.allow}`);
    const [entra] = providers.filter(({ name }) => name === 'Entra ID');
    const key = rsaKey('1');
    const auth = (entra?.auth ?? '').replace(
      /role: .*/,
      `role: { claim: ${scopes.claim}, format: ${scopes.format}, allow: ${scopes.allow}, message: no }`,
    );
    const gateway = await startGateway(manifestWith(auth, upstream.url, key));
    const token = tokenOf({ alg: 'RS256', kid: '1' }, { ...entra?.claims, exp: seconds() + 600 }, key);
    const request = head('POST /api/contacts HTTP/1.1', `Authorization: Bearer ${token}`, 'Content-Length: 0');
    expect((await sendRequest(gateway.port, request)).status).toBe(200);
    await gateway.close();
  });
});

import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MANIFEST = `version: 1
upstreams: { up: { url: '\${UP:-http://127.0.0.1:7002}' } }
auth:
  tokens: { jwt: { jwks: http://127.0.0.1:9/jwks.json, algorithms: [ES256], issuer: i, audience: a } }
  role: { claim: /company/role, allow: [admin, user], message: company admins and users only }
routes:
  - { id: open, method: GET, path: /open, upstream: up, access: public, requestHeaders: { set: { X-Key: '\${KEY:-none}' } } }
  - { id: note, method: POST, path: /notes, upstream: up, access: protected, body: { schema: { required: [text] } } }
`;

const folderWith = (files: Record<string, string>) => temporaryFolder('explain', files);

const folder = folderWith({
  'gateway.yaml': MANIFEST,
  'note.json': '{"text":"hello"}',
  'other.yaml': MANIFEST.replace('open', 'other'),
});

async function explain(args: readonly string[], env: Record<string, string> = {}) {
  const { code, out, err } = await runCli(['explain', ...args, '--json'], folder, env);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}

describe('explain', () => {
  it('exits with 0 for any outcome of the request', async () => {
    expect((await explain(['GET', '/open'])).outcome).toBe('forwarded');
    expect((await explain(['GET', '/nowhere'])).refusal.code).toBe('route_unknown');
  });

  it('accepts a role, claims, headers and a body', async () => {
    const role = await explain(['POST', '/notes', '--role', 'user', '--body', 'note.json']);
    expect([role.outcome, role.request.claims]).toEqual(['forwarded', { company: { role: 'user' } }]);
    expect(role.upstream.headers).toContainEqual(['Content-Type', 'application/json']);
    const claims = await explain(['POST', '/notes', '--claims', '{"company":{"role":"guest"}}']);
    expect(claims.refusal.code).toBe('role_not_allowed');
    const header = await explain(['GET', '/open', '-H', 'X-A: b', '--header', 'X-C:d']);
    expect(header.upstream.headers).toEqual(
      expect.arrayContaining([
        ['X-A', 'b'],
        ['X-C', 'd'],
      ]),
    );
  });

  it('splits a URL like a client and does not normalise it', async () => {
    const { request, upstream } = await explain(['GET', 'https://gateway.example/open?a=b']);
    expect([request.target, upstream.headers[0]]).toEqual(['/open?a=b', ['Host', 'gateway.example']]);
    expect((await explain(['GET', 'https://gateway.example/../open'])).refusal.reason).toBe('path_dot_segment');
    expect((await explain(['GET', 'https://gateway.example'])).request.target).toBe('/');
  });

  it('reads the manifest from FILE and from --config', async () => {
    expect((await explain(['GET', '/open', 'other.yaml'])).route.id).toBe('other');
    expect((await explain(['GET', '/open', '-c', 'other.yaml'])).route.id).toBe('other');
  });

  it('never prints values from the environment', async () => {
    const { out } = await runCli(['explain', 'GET', '/open'], folder, { UP: 'http://10.9.8.7:6', KEY: 'hidden' });
    expect(out).not.toMatch(/10\.9\.8\.7|hidden/);
    expect(out).toContain('${UP}/open');
    expect(out).toContain('X-Key: ${KEY}');
  });

  it('exits with 1 for a manifest with problems', async () => {
    const broken = folderWith({ 'gateway.yaml': 'version: 2\n' });
    const { code, out, err } = await runCli(['explain', 'GET', '/'], broken);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('gateway.yaml:1:');
  });

  it.each([
    ['no arguments', []],
    ['a method without a URL', ['GET']],
    ['two callers', ['GET', '/', '--role', 'user', '--anonymous']],
    ['claims that are not an object', ['GET', '/', '--claims', '[]']],
    ['claims that are not JSON', ['GET', '/', '--claims', 'role=user']],
    ['a header without a colon', ['GET', '/', '--header', 'X-A']],
    ['a line break in a header', ['GET', '/', '--header', 'X-A: b\nX-C: d']],
    ['a line break in the URL', ['GET', '/ HTTP/1.1\r\nX: y']],
    ['a missing body file', ['GET', '/', '--body', 'nothing.json']],
    ['two manifests', ['GET', '/', 'gateway.yaml', '-c', 'other.yaml']],
  ])('exits with 2 for %s', async (_case, args) => {
    const { code, out, err } = await runCli(['explain', ...args], folder);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^signing-gateway: \S/);
  });

  it('rejects --issuer without a token, which it would be about', async () => {
    const tokens = MANIFEST.replace('{ jwt:', '[{ name: staff, jwt:').replace('audience: a } }', 'audience: a } }]');
    const args = ['explain', 'POST', '/notes', '--issuer', 'staff'];
    const { code, err } = await runCli(args, folderWith({ 'gateway.yaml': tokens }));
    expect([code, err]).toEqual([2, expect.stringContaining('add --role or --claims')]);
    expect((await runCli([...args, '--role', 'user'], folderWith({ 'gateway.yaml': tokens }))).code).toBe(0);
  });

  it('rejects --role if the manifest has no authentication', async () => {
    const open = folderWith({
      'gateway.yaml': `version: 1
upstreams: { up: { url: http://127.0.0.1:9 } }
routes: [{ id: all, method: any, path: /**, upstream: up, access: public }]
`,
    });
    const { code, err } = await runCli(['explain', 'GET', '/', '--role', 'user'], open);
    expect([code, err]).toEqual([2, expect.stringContaining('no "auth"')]);
  });
});

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';

const MANIFEST = `version: 1
upstreams: { up: { url: '\${UP:-http://127.0.0.1:7002}' } }
auth:
  tokens: { jwt: { jwks: http://127.0.0.1:9/jwks.json, algorithms: [ES256], issuer: i, audience: a } }
  role: { claim: /company/role, allow: [admin, user], message: company admins and users only }
routes:
  - { id: open, method: GET, path: /open, upstream: up, access: public, requestHeaders: { set: { X-Key: '\${KEY:-none}' } } }
  - { id: note, method: POST, path: /notes, upstream: up, access: protected, body: { schema: { required: [text] } } }
`;

function folderWith(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'explain-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const folder = folderWith({
  'gateway.yaml': MANIFEST,
  'note.json': '{"text":"hello"}',
  'other.yaml': MANIFEST.replace('open', 'other'),
});

async function explained(args: readonly string[], env: Record<string, string> = {}) {
  const { code, out, err } = await runCli(['explain', ...args, '--json'], folder, env);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}

describe('explain', () => {
  it('exits with 0 whether the request is forwarded or refused', async () => {
    expect((await explained(['GET', '/open'])).outcome).toBe('forwarded');
    expect((await explained(['GET', '/nowhere'])).refusal.code).toBe('route_unknown');
  });

  it('accepts a role, claims, headers and a body', async () => {
    const role = await explained(['POST', '/notes', '--role', 'user', '--body', 'note.json']);
    expect([role.outcome, role.request.claims]).toEqual(['forwarded', { company: { role: 'user' } }]);
    expect(role.upstream.headers).toContainEqual(['Content-Type', 'application/json']);
    const claims = await explained(['POST', '/notes', '--claims', '{"company":{"role":"guest"}}']);
    expect(claims.refusal.code).toBe('role_not_allowed');
    const header = await explained(['GET', '/open', '-H', 'X-A: b', '--header', 'X-C:d']);
    expect(header.upstream.headers).toEqual(
      expect.arrayContaining([
        ['X-A', 'b'],
        ['X-C', 'd'],
      ]),
    );
  });

  it('splits a URL as a client does, without normalizing it', async () => {
    const { request, upstream } = await explained(['GET', 'https://gateway.example/open?a=b']);
    expect([request.target, upstream.headers[0]]).toEqual(['/open?a=b', ['Host', 'gateway.example']]);
    expect((await explained(['GET', 'https://gateway.example/../open'])).refusal.reason).toBe('path_dot_segment');
    expect((await explained(['GET', 'https://gateway.example'])).request.target).toBe('/');
  });

  it('accepts the manifest as an argument or an option', async () => {
    expect((await explained(['GET', '/open', 'other.yaml'])).route.id).toBe('other');
    expect((await explained(['GET', '/open', '-c', 'other.yaml'])).route.id).toBe('other');
  });

  it('never prints a value from the environment', async () => {
    const { out } = await runCli(['explain', 'GET', '/open'], folder, { UP: 'http://10.9.8.7:6', KEY: 'hidden' });
    expect(out).not.toMatch(/10\.9\.8\.7|hidden/);
    expect(out).toContain('${UP:-http://127.0.0.1:7002}/open');
    expect(out).toContain('X-Key: ${KEY:-none}');
  });

  it('exits with 1 for a manifest with problems', async () => {
    const broken = folderWith({ 'gateway.yaml': 'version: 2\n' });
    const { code, out, err } = await runCli(['explain', 'GET', '/'], broken);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('gateway.yaml:1:');
  });

  it.each([
    ['nothing', []],
    ['a method alone', ['GET']],
    ['two callers', ['GET', '/', '--role', 'user', '--anonymous']],
    ['claims that are no object', ['GET', '/', '--claims', '[]']],
    ['claims that are no JSON', ['GET', '/', '--claims', 'role=user']],
    ['a header without a colon', ['GET', '/', '--header', 'X-A']],
    ['a line break in a header', ['GET', '/', '--header', 'X-A: b\nX-C: d']],
    ['a line break in the URL', ['GET', '/ HTTP/1.1\r\nX: y']],
    ['a body that is not there', ['GET', '/', '--body', 'nothing.json']],
    ['two manifests', ['GET', '/', 'gateway.yaml', '-c', 'other.yaml']],
  ])('exits with 2 for %s', async (_what, args) => {
    const { code, out, err } = await runCli(['explain', ...args], folder);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^signing-gateway: \S/);
  });

  it('refuses --role if the manifest has no "auth"', async () => {
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

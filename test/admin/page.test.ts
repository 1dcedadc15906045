import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PAGE_ENDPOINTS } from '../../src/admin/page.ts';
import { startGatewayWithAdmin } from '../support/admin.ts';

const MANIFEST = `version: 1
listen: 127.0.0.1:0
admin: { listen: 127.0.0.1:0, token: '\${TOKEN}' }
upstreams: { up: { url: 'http://127.0.0.1:9' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
`;

describe('the files of the admin page', () => {
  it('are all served with their media types and a policy that allows only requests to this origin', async () => {
    const site = await startGatewayWithAdmin(MANIFEST, { TOKEN: '7mWq2vXc9RtLkP4zGhN8' });
    const files = readdirSync(new URL('../../src/admin/page', import.meta.url)).filter(
      (name) => name !== 'tsconfig.json',
    );
    const served = PAGE_ENDPOINTS.map(({ path }) => (path === '/' ? 'index.html' : path.slice('/page/'.length)));
    expect(served.sort()).toEqual(files.map((name) => name.replace('.ts', '.js')).sort());
    const types: Record<string, string> = {};
    for (const { path } of PAGE_ENDPOINTS) {
      const { status, headers } = await fetch(site.admin.url + path);
      expect([path, status, headers.get('x-content-type-options')]).toEqual([path, 200, 'nosniff']);
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cache-control')).toBe('no-store');
      const policy = (headers.get('content-security-policy') ?? '').split('; ');
      expect(policy).toEqual(
        expect.arrayContaining(["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]),
      );
      expect(policy.join()).not.toMatch(/unsafe|\*|http|data:/);
      types[path.slice(path.lastIndexOf('.') + 1)] = headers.get('content-type') ?? '';
    }
    expect(types).toEqual({
      '/': 'text/html; charset=utf-8',
      css: 'text/css; charset=utf-8',
      js: 'text/javascript; charset=utf-8',
      svg: 'image/svg+xml',
    });
    await site.close();
  });
});

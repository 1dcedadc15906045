import { afterEach, describe, expect, it } from 'vitest';
import { load } from '../../../src/engine/load.ts';
import { type GatewayWithAdmin, noReloads, startGatewayWithAdmin } from '../../support/admin.ts';
import { worldOf } from '../../support/gateway.ts';

const SECRET = 'sentinel-7f3a9c21';
const ENV = { UP: 'http://127.0.0.1:9' };
const MANIFEST = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams: { up: { url: '\${UP}' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public, requestHeaders: { set: { X-Token: ${SECRET} } } }
`;

let site: GatewayWithAdmin;
afterEach(() => site.close());

const read = async () => (await (await fetch(`${site.admin.url}/manifest`)).json()) as Record<string, unknown>;

describe('/manifest', () => {
  it('reports the text of the active manifest without secrets', async () => {
    site = await startGatewayWithAdmin(MANIFEST, ENV);
    const text = MANIFEST.replace(SECRET, '•'.repeat(SECRET.length));
    expect(await read()).toEqual({
      state: 'active',
      problems: [],
      problem_count: 0,
      files: [{ file: 'gateway.yaml', text, omitted_lines: 0 }],
    });
  });

  it('reports the rejected manifest with its problems, and cuts a long one', async () => {
    const routes = Array.from({ length: 600 }, () => '  - 1\n');
    const admin = `admin: { listen: '127.0.0.1:0', token: ${SECRET} }`;
    const text = MANIFEST.replace('admin: 127.0.0.1:0', admin) + routes.join('') + '# more\n'.repeat(3_000);
    const { problems } = load({ path: 'gateway.yaml', text }, worldOf(ENV));
    const outcome = { cause: 'change', at: new Date(), ms: 3, files: [], problems } as const;
    const lastOutcome = { kind: 'rejected', ...outcome, sources: [{ path: 'gateway.yaml', text }] } as const;
    site = await startGatewayWithAdmin(MANIFEST, ENV, {}, { reloader: { ...noReloads(), lastOutcome } });
    const response = await read();
    expect(response).toMatchObject({ state: 'rejected', problem_count: problems.length });
    expect(response['problems']).toHaveLength(500);
    expect(response['files']).toMatchObject([{ file: 'gateway.yaml', omitted_lines: text.split('\n').length - 2_000 }]);
    expect(JSON.stringify(response)).not.toContain(SECRET);
  });
});

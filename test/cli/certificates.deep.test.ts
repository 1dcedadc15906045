import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPair } from '../support/certificate.ts';
import { runCli, startCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MANIFEST = `version: 1
listen: 127.0.0.1:0
server: { workers: WORKERS, tls: { certificate: server.pem, key: server.key }, stopping: { delay: 0s } }
admin: 127.0.0.1:0
stores: { main: { redis: { url: rediss://127.0.0.1:1, ca: store.pem }, secret: '\${SECRET}' } }
rateLimits: { all: { key: client, allow: 1000 per 1s, store: main } }
upstreams:
  up: { url: 'https://127.0.0.1:9', tls: { ca: ca.pem, certificate: client.pem, key: client.key } }
  other: { url: 'https://127.0.0.1:9', tls: { ca: valid.pem } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public, rateLimits: [all] }
  - { id: two, method: GET, path: /two, upstream: other, access: public }
`;

const WARNING = /.*"msg":"certificates of the manifest are not valid or expire soon; renew them".*/;
const SECRET = 'a-secret-of-the-store-of-this-test';

function site(workers: number) {
  const [server, client] = [createPair({ days: -2 }), createPair({ days: 3.5 })];
  return temporaryFolder('certificates', {
    'gateway.yaml': MANIFEST.replace('WORKERS', String(workers)),
    'server.pem': server.certificate,
    'server.key': server.key,
    'client.pem': client.certificate,
    'client.key': client.key,
    'ca.pem': createPair().certificate + createPair({ days: 90, start: 2 }).certificate,
    'store.pem': createPair({ days: -0.5 }).certificate,
    'valid.pem': createPair({ days: 40.5 }).certificate,
  });
}

describe('certificates that are not valid', () => {
  it.each([1, 2])('are logged at the start and at a reload with %i workers, and shown in /status', async (workers) => {
    const folder = site(workers);
    const cli = startCli(['run'], folder, { SECRET });
    try {
      const [line = ''] = await cli.waitFor(WARNING);
      const dates = / \d{4}-\d\d-\d\d \d\d:\d\d UTC$/;
      const logged: string[] = JSON.parse(line).certificates.map((text: string) =>
        text.replace(dates, '').replace('the certificate "CN=localhost" in this file ', ''),
      );
      expect(logged.sort()).toEqual([
        'server.tls.certificate: expired on',
        'stores.main.redis.ca: expired on',
        'upstreams.up.tls.ca: is not valid before',
        'upstreams.up.tls.certificate: expires on',
      ]);
      const [, admin] = await cli.waitFor(/"admin":"(http:[^"]+)".*"msg":"serving"/);
      const { certificates } = (await (await fetch(`${admin}/status`)).json()) as {
        certificates: { key: string; days_left: number; problem: string | null }[];
      };
      expect(Object.fromEntries(certificates.map(({ key, days_left }) => [key, days_left]))).toEqual({
        'server.tls.certificate': -2 - 1,
        'stores.main.redis.ca': -1,
        'upstreams.up.tls.ca': 29,
        'upstreams.up.tls.certificate': 3,
        'upstreams.other.tls.ca': 40,
      });
      expect(certificates.find(({ key }) => key === 'upstreams.other.tls.ca')?.problem).toBeNull();

      // The old file has the same problems, so a reload repeats only those that are left.
      writeFileSync(join(folder, 'store.pem'), createPair().certificate);
      utimesSync(join(folder, 'store.pem'), new Date(), new Date());
      await cli.waitFor(/manifest reloaded/);
      const [, second = ''] = await cli.waitFor(new RegExp(`${WARNING.source}[^]*?(${WARNING.source})`));
      expect(JSON.parse(second).count).toBe(3);
    } finally {
      cli.child.kill('SIGKILL');
      await cli.result;
    }
  });

  it('make lint fail only if warnings do', async () => {
    const folder = site(1);
    const lint = (...args: string[]) => runCli(['lint', ...args], folder, { SECRET });
    const { code, out } = await lint();
    expect(out.match(/\[certificate-validity\]/g)).toHaveLength(4);
    expect(code).toBe(0);
    expect((await lint('--fail-on', 'warning')).code).toBe(1);
  });
});

import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { forkGateway } from '../support/forked.ts';
import { manifest } from '../support/gateway.ts';
import { keepAliveHead, openSocket } from '../support/raw.ts';
import { startSite } from '../support/site.ts';

const ROUTES = '  - { id: closed, method: GET, path: /closed, upstream: up, access: protected }\n';

it('no token text is in memory while its connection is idle', async () => {
  const site = await startSite(ROUTES);
  const forked = await forkGateway(manifest(ROUTES, { up: site.upstream.url, jwks: site.issuer.jwksUrl }));
  const folder = mkdtempSync(join(tmpdir(), 'heap-'));
  try {
    const tokens = await Promise.all(['a', 'b'].map((sub) => site.issuer.token({ sub })));
    const sockets = [];
    for (const token of tokens) {
      const socket = await openSocket(forked.port);
      sockets.push(socket);
      // The gateway has the token cached at the second request.
      for (const path of ['/closed?first', '/closed?second']) {
        socket.write(keepAliveHead(`GET ${path} HTTP/1.1`, `Authorization: Bearer ${token}`));
        expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
      }
    }
    const file = join(folder, 'all.heapsnapshot');
    await forked.snapshot(file);
    const memory = readFileSync(file, 'latin1');
    for (const token of tokens) expect(memory.includes(token.slice(-40))).toBe(false);
    for (const socket of sockets) socket.destroy();
  } finally {
    rmSync(folder, { recursive: true });
    await forked.close();
    await site.close();
  }
});

import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { load, type PlannedManifest } from '../../../src/engine/load.ts';
import { createMemoryEnvironment } from '../../../src/engine/manifest/source.ts';
import { readLogs } from '../../../src/traffic/access-log/read-logs.ts';
import { createReplay } from '../../../src/traffic/replay/replay.ts';
import { Random } from './random-traffic.ts';

const LINES = 1_000_000;
const BATCH = 1_000;
const MAX_CPU_SECONDS = 60;
const MAX_BYTES = 500_000_000;

const MANIFEST = `version: 1
log: { replay: true, paths: plain }
upstreams: { up: { url: 'http://127.0.0.1:9' } }
auth:
  tokens: { jwt: { jwks: 'https://id.test/jwks', algorithms: [ES256], issuer: 'https://id.test', audience: api } }
  role: { claim: /role, allow: [admin, user], message: admins and users only }
rateLimits: { each: { key: subject, allow: 5 per 1m } }
routes:
  - { id: contact, method: any, path: '/contacts/{id}', upstream: up, access: protected }
  - { id: download, method: GET, path: '/downloads/{token}', upstream: up, access: public }
  - { id: limited, method: GET, path: /limited, upstream: up, access: protected, rateLimits: [each] }
`;

function planned(text: string): PlannedManifest {
  const loaded = load({ path: 'gateway.yaml', text }, createMemoryEnvironment({}, {}));
  if (loaded.plan === undefined) throw new Error('the manifest has problems');
  return loaded;
}

/** Yields lines of many callers, with an identifier in most paths. */
function* linesOf(manifest: string): Generator<string> {
  const random = new Random(1);
  const hex = (digits: number) =>
    random
      .below(16 ** digits)
      .toString(16)
      .padStart(digits, '0');
  for (let batch = 0; batch < LINES / BATCH; batch += 1) {
    let text = '';
    for (let index = 0; index < BATCH; index += 1) {
      const [route, path] = random.pick([
        ['contact', `/contacts/${hex(8)}-${hex(4)}`],
        ['download', `/downloads/${hex(8)}${hex(8)}`],
        ['limited', '/limited'],
      ] as const);
      const caller = `"subject":"${hex(4)}","role":"${random.pick(['admin', 'user'])}","credential":"bearer"`;
      const members = route === 'download' ? '"credential":"none"' : caller;
      text += `{"level":30,"time":${1_790_000_000_000 + index},"msg":"request","id":"${hex(8)}-${hex(4)}-${hex(4)}","method":"GET","path":"${path}","route":"${route}","upstream":"up","status":200,"bytesOut":1024,"ms":12.345,"gatewayMs":0.321,"upstreamMs":11.9,"peer":"10.0.0.1","manifest":"${manifest}",${members},"query":[],"host":"api.example.com"}\n`;
    }
    yield text;
  }
}

describe('a log of a million lines', () => {
  it('is replayed in little time and memory', async () => {
    const old = planned(MANIFEST);
    const next = planned(
      MANIFEST.replace(
        "{id}', upstream: up, access: protected",
        "{id}', upstream: up, access: protected, roles: [admin]",
      ),
    );
    const replay = createReplay(old, next);
    const before = process.cpuUsage();
    // The test runner takes memory too.
    const bytesBefore = process.memoryUsage.rss();
    let mostBytes = 0;
    const open = () => Readable.from(linesOf(old.plan.hash.slice(0, 16)), { objectMode: false });
    for await (const requests of readLogs([{ name: 'access.log', open }])) {
      for (const request of requests) replay.add(request);
      mostBytes = Math.max(mostBytes, process.memoryUsage.rss());
    }
    const { lines, calibration, comparison } = replay.report();
    const { user, system } = process.cpuUsage(before);
    expect({ lines, reproduced: calibration.same }).toEqual({ lines: LINES, reproduced: LINES });
    expect(comparison.changed.get('newly-refused')).toBeGreaterThan(LINES / 8);
    expect((user + system) / 1e6).toBeLessThan(MAX_CPU_SECONDS);
    expect(mostBytes - bytesBefore).toBeLessThan(MAX_BYTES);
  });
});

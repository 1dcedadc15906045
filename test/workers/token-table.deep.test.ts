import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTokenServices, TABLE, TOKEN_ENV, type TokenServices } from '../gateway/token-table.ts';
import { keepAliveHead, type Wire } from '../support/raw.ts';
import { startWorkerThreads, type WorkerThreads } from '../support/worker-threads.ts';

let services: TokenServices;

beforeAll(async () => {
  services = await startTokenServices();
});

afterAll(() => services.close());

describe.each(['jwt', 'introspection', 'userinfo'] as const)('two workers that verify tokens by %s', (method) => {
  let workers: WorkerThreads;

  beforeAll(async () => {
    workers = await startWorkerThreads(services.manifests[method], TOKEN_ENV);
  });

  afterAll(() => workers.close());

  let wires: readonly Wire[] = [];

  beforeEach(async () => {
    wires = await workers.openWires();
  });

  afterEach(() => {
    for (const wire of wires) wire.end();
  });

  it.each(Object.keys(TABLE))('return the expected statuses for a token: %s', async (kind) => {
    const token = kind === 'none' ? '' : (services.tokens[kind]?.[method === 'jwt' ? 'jwt' : 'opaque'] ?? '');
    const credentials = token === '' ? [] : [`Authorization: Bearer ${token}`];
    const statusOn = async (wire: Wire, line: string, headers: string[], body = '') => {
      wire.write(keepAliveHead(`${line} HTTP/1.1`, ...headers) + body);
      return (await wire.response()).status;
    };
    // The worker that verifies a token first is another one for each repetition.
    for (const wire of [...wires, ...wires.toReversed()]) {
      services.up.requests.length = 0;
      const statuses = [
        await statusOn(wire, 'GET /open', credentials),
        await statusOn(wire, 'GET /closed', credentials),
        await statusOn(wire, 'POST /login', [`Content-Length: ${token.length}`], token),
      ];
      expect(statuses).toEqual(TABLE[kind]?.[method]);
      const forwarded = services.up.requests.map(({ url }) => url);
      expect(forwarded.includes('/closed')).toBe(TABLE[kind]?.[method][1] === 200);
    }
  });
});

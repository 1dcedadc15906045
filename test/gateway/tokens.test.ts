import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { head, keepAliveHead, sendRequest, Wire } from '../support/raw.ts';
import { startWorkerThreads, type WorkerThreads } from '../support/worker-threads.ts';
import { startTokenServices, TABLE, TOKEN_ENV, type TokenServices } from './token-table.ts';

let services: TokenServices;

beforeAll(async () => {
  services = await startTokenServices();
});

afterAll(() => services.close());

it('there is a row for every kind of token', () => {
  expect(Object.keys(TABLE).sort()).toEqual(['none', ...Object.keys(services.tokens)].sort());
});

const METHODS = ['jwt', 'introspection', 'userinfo'] as const;
const SUBJECTS = METHODS.flatMap((method) => [1, 2].map((count) => ({ method, count })));

describe.each(SUBJECTS)('token verification by $method with workers: $count', ({ method, count }) => {
  let workers: WorkerThreads;
  /** A connection to each worker. */
  let wires: readonly Wire[] = [];

  beforeAll(async () => {
    workers = await startWorkerThreads(services.manifests[method], TOKEN_ENV, count);
  });

  beforeEach(async () => {
    wires = count === 1 ? [await Wire.open(workers.port)] : await workers.openWires();
    return () => {
      for (const wire of wires) wire.end();
    };
  });

  afterAll(() => workers.close());

  it.each(Object.keys(TABLE))('returns the expected statuses for a token: %s', async (kind) => {
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

  it('sends at most one request for many concurrent ones, and logs no token or secret', async () => {
    services.identity.requests.length = 0;
    const token = method === 'jwt' ? await services.issuer.token({ sub: 'many' }) : 'opaque-valid';
    const line = head('GET /closed HTTP/1.1', `Authorization: Bearer ${token}`);
    const responses = await Promise.all(Array.from({ length: 20 }, () => sendRequest(workers.port, line)));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(services.identity.requests.length).toBeLessThanOrEqual(1);
    const log = workers.lines.join('');
    for (const { jwt, opaque } of Object.values(services.tokens)) {
      if (jwt.length > 10) expect(log).not.toContain(jwt);
      if (opaque.length > 10) expect(log).not.toContain(opaque);
    }
  });

  it('logs the reason of an unreachable endpoint', async () => {
    // Keys are not fetched for each token.
    if (method === 'jwt') return;
    const token = services.tokens['of an unreachable issuer']?.opaque;
    await sendRequest(workers.port, head('GET /closed HTTP/1.1', `Authorization: Bearer ${token}`));
    const logged = { refusal: 'keys_unavailable', reason: 'connection_closed' };
    expect(workers.lines.map((text) => JSON.parse(text))).toContainEqual(expect.objectContaining(logged));
  });
});

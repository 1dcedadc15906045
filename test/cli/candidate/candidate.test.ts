import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type GatewayWithAdmin, startGatewayWithAdmin } from '../../support/admin.ts';
import {
  activeCandidate,
  changeGroup,
  comparisonOf,
  fakeCandidate,
  REFUSED,
  rejectedFile,
  type WatchedFile,
} from '../../support/candidate.ts';
import { createPair } from '../../support/certificate.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { runCandidate } from './support.ts';

const TOKEN = '7mWq2vXc9RtLkP4zGhN8';
const REST = `upstreams: { up: { url: 'http://127.0.0.1:9' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
`;
const manifestOf = (admin: string) => `version: 1
listen: 127.0.0.1:0
admin: ${admin}
${REST}`;

const NEXT = manifestOf('127.0.0.1:0').replace('/one', '/two');

const RANGE = { line: 6, column: 3, endLine: 6, endColumn: 9 };
const PROBLEM = { file: 'next.yaml', range: RANGE, severity: 'error', rule: 'schema', message: 'unknown key' } as const;

const candidate = fakeCandidate();
/** The file of `--candidate` of another gateway. */
const candidateFile: WatchedFile = { path: 'next.yaml', lastOutcome: undefined };
let fileSite: GatewayWithAdmin;
let site: GatewayWithAdmin;
let secured: GatewayWithAdmin;

beforeAll(async () => {
  site = await startGatewayWithAdmin(manifestOf('127.0.0.1:0'), {}, {}, { candidate });
  fileSite = await startGatewayWithAdmin(manifestOf('127.0.0.1:0'), {}, {}, { candidate, candidateFile });
  const admin = "{ listen: '127.0.0.1:0', token: '${T}' }";
  secured = await startGatewayWithAdmin(manifestOf(admin), { T: TOKEN }, {}, { candidate });
});
beforeEach(() => {
  candidate.status = undefined;
  candidate.activated.splice(0);
  candidateFile.lastOutcome = undefined;
});
afterAll(async () => {
  await site.close();
  await fileSite.close();
  await secured.close();
});

const run = (...args: string[]) => runCandidate({ args: [...args, '--url', site.admin.url] });
const runWithFile = (...args: string[]) => runCandidate({ args: [...args, '--url', fileSite.admin.url] });
const file = (text: string) => join(temporaryFolder('candidate', { 'gateway.yaml': text }), 'gateway.yaml');

/** Starts a server that is no gateway, for the duration of an action. */
async function withServer<Result>(
  listener: RequestListener,
  action: (url: string) => Promise<Result>,
): Promise<Result> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await action(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

describe('candidate status', () => {
  it('says that there is none', async () => {
    expect(await run('status')).toEqual({ code: 0, out: 'no candidate\n', err: '' });
    expect((await run('status', '-f', 'markdown')).out).toBe('### Candidate: none\n');
  });

  it('prints the counts and the changes for a person', async () => {
    candidate.status = activeCandidate(undefined, {
      skipped: { queue: 0, 'earlier-plan': 0, sample: 5 },
      errors: 1,
      sample: 0.5,
    });
    expect((await run('status')).out).toBe(`candidate  cccccccccccc, active since 2026-01-02T03:04:05.000Z
compared   with the active manifest aaaaaaaaaaaa, 50 % of the requests
requests   10: 6 same, 3 changed, 1 unknown, 5 not compared, 1 error
reasons    body 1, sample 5

newly-refused 3 requests of 2 callers
  active     forwarded to up by contacts
  candidate  refused by contacts: 403 role_not_allowed
  example    GET /api/contacts, request id-1
`);
  });

  it('prints the report of the admin API as JSON', async () => {
    candidate.status = activeCandidate();
    const expected = await (await fetch(`${site.admin.url}/candidate`)).json();
    expect(JSON.parse((await run('status', '-f', 'json')).out)).toEqual(expected);
  });

  it('prints tables for a pull request, in which no text of a request is markup', async () => {
    const witness = { method: 'GET', path: '/a|b`<img>\n# x\u202e', at: 0, id: 'i', keyed: false };
    candidate.status = activeCandidate(comparisonOf([changeGroup({ witnesses: [witness] })], 6, { body: 1 }));
    expect((await run('status', '-f', 'markdown')).out).toBe(`### Candidate \`cccccccccccc\`: 3 of 10 requests changed

Compared with the active manifest \`aaaaaaaaaaaa\` since 2026-01-02T03:04:05.000Z. Requests 10: 6 same, 3 changed, 1 unknown.

| change | requests |
|---|--:|
| newly-refused | 3 |

| change | active | candidate | requests | callers | example |
|---|---|---|--:|--:|---|
| newly-refused | forwarded to up by contacts | refused by contacts: 403 role\\_not\\_allowed | 3 | 2 | \`\`GET /a\\|b\`<img> # x\uFFFD\`\` |

| not compared | requests |
|---|--:|
| body | 1 |
`);
  });

  it('limits the changes of a comment, so that a pull request accepts it', async () => {
    const groups = Array.from({ length: 2_000 }, (_, index) =>
      changeGroup({
        to: { ...REFUSED, route: `route-${index}-${'r'.repeat(80)}` },
        witnesses: [{ method: 'GET', path: `/${'p'.repeat(8_000)}`, at: 0, id: 'i', keyed: false }],
      }),
    );
    candidate.status = activeCandidate(comparisonOf(groups));
    const { out } = await run('status', '-f', 'markdown');
    expect(out.length).toBeLessThan(65_536);
    expect(out).toContain('and 1950 more');
    expect((await run('status')).out).toContain('and 1950 more');
  });

  it('says why the file of --candidate is rejected', async () => {
    const print = async (...args: string[]) => (await runWithFile('status', ...args)).out;
    candidateFile.lastOutcome = rejectedFile([PROBLEM], NEXT).lastOutcome;
    expect(await print()).toContain('candidate  next.yaml, rejected\n');
    expect(await print()).toContain('next.yaml:6:3 error unknown key [schema]\n');
    expect(await print('-f', 'markdown')).toContain('| `next.yaml:6` | unknown key (schema) |\n');
    candidate.status = activeCandidate(undefined, { source: 'file' });
    expect(await print()).toContain('candidate  next.yaml cccccccccccc, active since');
    expect(await print()).toContain('problem    the saved file is not compared: it has 1 problem\n');
    const attempt = { cause: 'poll', at: new Date(), ms: 1, files: [] } as const;
    candidateFile.lastOutcome = { ...attempt, kind: 'unreadable', reason: 'EACCES' };
    expect(await print()).toContain('problem    the saved file is not compared: it cannot be read: EACCES\n');
  });

  it('prints no control characters of a request', async () => {
    const witness = { method: 'GET', path: '/\x1b[2J\u202e', at: 0, id: 'i', keyed: false };
    candidate.status = activeCandidate(comparisonOf([changeGroup({ witnesses: [witness] })]));
    expect((await run('status')).out).toContain('GET /\uFFFD[2J\uFFFD,');
  });

  it('exits with 1 if a condition of --fail-on is true', async () => {
    candidate.status = activeCandidate();
    const exit = async (list: string) => {
      const { code, err } = await run('status', '--fail-on', list);
      return [code, err];
    };
    expect(await exit('newly-allowed')).toEqual([0, '']);
    expect(await exit('newly-refused')).toEqual([1, 'signing-gateway: --fail-on newly-refused: 3 requests\n']);
    expect((await exit('changed'))[0]).toBe(1);
    expect(await exit('unknown>10%')).toEqual([0, '']);
    expect(await exit('unknown>9.9%')).toEqual([
      1,
      'signing-gateway: --fail-on unknown: 1 of 10 requests, more than 9.9 %\n',
    ]);
  });
});

describe('candidate put', () => {
  it('sends the file and prints the report', async () => {
    const { code, out } = await run('put', file(NEXT));
    const [[hash = ''] = []] = candidate.activated;
    expect([code, out.split('\n')[0]]).toEqual([
      0,
      `candidate  ${hash.slice(0, 12)}, active since 2026-01-02T03:04:05.000Z`,
    ]);
  });

  it('compares the share of the requests that --sample names', async () => {
    expect((await run('put', file(NEXT), '--sample', '0.1')).out).toContain(', 10 % of the requests\n');
    expect(await run('put', file(NEXT), '--sample', '10')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--sample 10: write a number above 0 and at most 1, such as 0.1'),
    });
  });

  it('prints the problems of a rejected manifest and exits with 1', async () => {
    const path = file(NEXT.replace('access: public', 'acess: public'));
    const { code, out, err } = await run('put', path);
    expect([code, out, candidate.activated]).toEqual([1, '', []]);
    expect(err.slice(path.length)).toMatch(/^:6:\d+ error .* \[.*\]\n[\s\S]* {2}.*acess: public/);
  });

  it('exits with 2 and the reason if the gateway takes no candidate', async () => {
    for (const args of [['put', file(NEXT)], ['delete']])
      expect(await runWithFile(...args)).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringContaining('of --candidate'),
      });
    const large = file(`# ${'x'.repeat(1024 ** 2)}\n`);
    expect(await run('put', large)).toMatchObject({ code: 2, err: expect.stringContaining('the body is too large') });
  });

  it('exits with 2 for a file that cannot be read', async () => {
    expect(await run('put', 'nowhere.yaml')).toMatchObject({
      code: 2,
      err: 'signing-gateway: nowhere.yaml: no such file; name the manifest that you want to try\n',
    });
  });
});

describe('candidate delete', () => {
  it('discards the candidate, and says if there was none', async () => {
    candidate.status = activeCandidate();
    expect((await run('delete')).out).toBe('the candidate is discarded\n');
    expect(await run('delete')).toEqual({ code: 0, out: 'there was no candidate\n', err: '' });
  });
});

describe('the connection to the admin API', () => {
  it('uses the address and the token of the manifest', async () => {
    const text = manifestOf(`{ listen: '0.0.0.0:${secured.admin.port}', token: '\${ADMIN_TOKEN}' }`);
    const args = ['status', '-c', file(text)];
    expect(await runCandidate({ args, env: { ADMIN_TOKEN: TOKEN } })).toMatchObject({ code: 0, err: '' });
  });

  it('takes the token of the option, or of the environment', async () => {
    const args = ['status', '--url', `${secured.admin.url}/`];
    expect((await runCandidate({ args, env: { SIGNING_GATEWAY_ADMIN_TOKEN: TOKEN } })).code).toBe(0);
    expect((await runCandidate({ args: [...args, '--token', TOKEN] })).code).toBe(0);
    const wrong = 'wrong-token-0123456789';
    const { code, err } = await runCandidate({ args, env: { SIGNING_GATEWAY_ADMIN_TOKEN: wrong } });
    expect([code, err]).toEqual([2, expect.stringContaining('refuses the token; set SIGNING_GATEWAY_ADMIN_TOKEN')]);
    expect(err).not.toContain(wrong);
  });

  it('trusts the certificate of the manifest, and no other one', async () => {
    const [own, other] = [createPair(), createPair()];
    const tls = '{ certificate: admin.crt, key: admin.key }';
    const files = { 'admin.crt': own.certificate, 'admin.key': own.key };
    const encrypted = await startGatewayWithAdmin(manifestOf(`{ listen: '127.0.0.1:0', tls: ${tls} }`), {}, files, {
      candidate,
    });
    const text = manifestOf(`{ listen: '127.0.0.1:${encrypted.admin.port}', tls: ${tls} }`);
    const exit = async (certificate: string) => {
      const folder = temporaryFolder('candidate', { 'gateway.yaml': text, 'admin.crt': certificate });
      return runCandidate({ args: ['status', '-c', join(folder, 'gateway.yaml')] });
    };
    expect(await exit(own.certificate)).toMatchObject({ code: 0, out: 'no candidate\n' });
    expect((await exit(other.certificate)).code).toBe(2);
    // The first certificate of the file is that of the listener, and the others are of its authorities.
    expect(await exit(other.certificate + own.certificate)).toMatchObject({
      code: 2,
      err: expect.stringContaining('presents another certificate than that of the manifest'),
    });
    expect(await runCandidate({ args: ['status', '--url', encrypted.admin.url] })).toMatchObject({
      code: 2,
      err: expect.stringContaining('set NODE_EXTRA_CA_CERTS'),
    });
    await encrypted.close();
  });

  it('exits with 2 if nothing listens', async () => {
    const url = await withServer(
      () => undefined,
      async (address) => address,
    );
    expect(await runCandidate({ args: ['status', '--url', url] })).toMatchObject({
      code: 2,
      err: `signing-gateway: no response from ${url}: ECONNREFUSED; check that the gateway runs and that this is the address of its "admin"\n`,
    });
  });

  it.each([
    ['text', 200, 'hello'],
    ['a list', 200, '[]'],
    ['another object', 200, '{"state":"active"}'],
    [
      'a state that it does not know',
      200,
      '{"state":"odd","requests":1,"same":1,"changed":{"total":0},"unknown":{"total":0}}',
    ],
    [
      'a report without groups',
      200,
      '{"state":"none","requests":1,"same":1,"errors":0,"problems":[],"changed":{"total":0},"unknown":{"total":0},"skipped":{"total":0}}',
    ],
    ['problems without a list', 422, '{"result":"rejected"}'],
    ['an error without a reason', 500, '{}'],
    ['the error of a gateway without candidates', 404, '{"status":404,"detail":"there is no /candidate"}'],
    ['a redirect', 302, ''],
  ])('exits with 2 if the response is %s', async (_name, status, body) => {
    await withServer(
      (_request, response) => void response.writeHead(status, { Location: site.admin.url }).end(body),
      async (url) => {
        for (const args of [['status'], ['wait', '--requests', '1'], ['delete'], ['put', file(REST)]]) {
          const { code, out, err } = await runCandidate({ args: [...args, '--url', url] });
          expect([code, out, err]).toEqual([2, '', expect.stringContaining('is not from a gateway with candidates')]);
        }
      },
    );
  });
});

describe('the arguments of candidate', () => {
  it.each([
    [[], 'name one of status, wait, put, delete'],
    [['stats'], 'unknown word "stats"; did you mean "status"?'],
    [['wait'], '"candidate wait" needs an end; write --requests COUNT, --for DURATION, or both'],
    [['wait', '--requests', 'many'], '--requests takes an integer, not "many"'],
    [['wait', '--for', '10'], '--for 10: write a duration, for example 30s, 10m or 2h'],
    [
      ['wait', '--for', '1m', '--fail-on', 'newly-refusd'],
      'unknown condition "newly-refusd"; did you mean "newly-refused"?',
    ],
    [['status', '--fail-on', ''], '--fail-on: unknown condition ""'],
    [['status', '--requests', '1'], '"candidate status" has no option --requests; remove it'],
    [['status', 'next.yaml'], 'unexpected argument "next.yaml"; remove it'],
    [['status', '-f', 'xml'], 'unknown --format "xml"; write one of: pretty, json, markdown'],
    [['put'], 'name one FILE: signing-gateway candidate put FILE'],
    [['put', 'a.yaml', 'b.yaml'], 'name one FILE: signing-gateway candidate put FILE'],
    [
      ['status', '--url', 'gateway:9901'],
      '--url takes the address of the admin API, for example http://127.0.0.1:9901',
    ],
    [['status', '--url', 'http://a:b@c'], '--url must not contain credentials; set SIGNING_GATEWAY_ADMIN_TOKEN'],
    [['status', '--url', 'http://a?b'], '--url must not have a query or a fragment'],
    [['status', '--url', 'http://a', '-c', 'b.yaml'], '--url and --config exclude each other; remove one of them'],
  ])('exits with 2 for %j', async (args, message) => {
    const { code, out, err } = await runCandidate({ args });
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(message)]);
  });
});

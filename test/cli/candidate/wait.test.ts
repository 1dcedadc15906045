import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAdminClient } from '../../../src/cli/candidate/admin-client.ts';
import { waitForRequests } from '../../../src/cli/candidate/wait.ts';
import { parseFailOn } from '../../../src/cli/change-formats.ts';
import type { CandidateStatus } from '../../../src/traffic/candidate/candidate-control.ts';
import { type GatewayWithAdmin, startGatewayWithAdmin } from '../../support/admin.ts';
import { activeCandidate, changeGroup, comparisonOf, fakeCandidate, rejectedFile } from '../../support/candidate.ts';
import { startCli } from '../../support/cli.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { runCandidate } from './support.ts';

const MANIFEST = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams: { up: { url: 'http://127.0.0.1:9' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
`;

const SAME = activeCandidate(comparisonOf([], 5));

const RANGE = { line: 6, column: 3, endLine: 6, endColumn: 9 };
const PROBLEM = { file: 'next.yaml', range: RANGE, severity: 'error', rule: 'schema', message: 'unknown key' } as const;

const candidate = fakeCandidate();
let site: GatewayWithAdmin;
beforeAll(async () => {
  site = await startGatewayWithAdmin(MANIFEST, {}, {}, { candidate });
});
afterAll(() => site.close());

/** Makes the polls return these reports one after the other, and the last one from then on. */
function serve(...statuses: (CandidateStatus | undefined)[]): void {
  let index = 0;
  const get = () => statuses[Math.min(index++, statuses.length - 1)];
  Object.defineProperty(candidate, 'status', { configurable: true, get });
}

const wait = (...args: string[]) => runCandidate({ args: ['wait', ...args, '--url', site.admin.url] });

describe('candidate wait', () => {
  it('ends when enough requests were compared', async () => {
    const unknown = { body: 100 };
    serve(SAME, activeCandidate(comparisonOf([], 9, unknown)), activeCandidate(comparisonOf([], 10, unknown)));
    const { code, out, err } = await wait('--requests', '10', '--for', '1h', '-f', 'json');
    expect([code, JSON.parse(out).same, err]).toEqual([0, 10, '']);
  });

  it('ends when the time is over, and says how many requests are missing', async () => {
    serve(SAME);
    expect(await wait('--requests', '10', '--for', '10ms')).toMatchObject({
      code: 0,
      out: expect.stringContaining('requests   5: 5 same, 0 changed, 0 unknown\n'),
      err: 'signing-gateway: the time is over: 5 of 10 requests compared\n',
    });
    expect(await wait('--for', '10ms')).toMatchObject({ code: 0, err: '' });
  });

  it('fails without any compared request, because a pipeline must not take that for a result', async () => {
    serve(activeCandidate(comparisonOf([], 0, { body: 3 })));
    expect(await wait('--for', '10ms', '--fail-on', 'changed')).toMatchObject({
      code: 2,
      err: expect.stringContaining('no request was compared within 10ms'),
    });
  });

  it('fails at once when a change of --fail-on occurs', async () => {
    serve(SAME, activeCandidate(comparisonOf([changeGroup({ requests: 1 })], 5)));
    expect(await wait('--requests', '100', '--fail-on', 'newly-allowed,newly-refused')).toMatchObject({
      code: 1,
      out: expect.stringContaining('newly-refused 1 request'),
      err: 'signing-gateway: --fail-on newly-refused: 1 request\n',
    });
  });

  it('ignores other changes', async () => {
    serve(activeCandidate(comparisonOf([changeGroup({ requests: 1 })], 5)));
    expect((await wait('--requests', '6', '--fail-on', 'newly-allowed')).code).toBe(0);
  });

  it('checks the share of unknown decisions only at the end', async () => {
    const unknown = activeCandidate(comparisonOf([], 1, { body: 9 }));
    serve(unknown, activeCandidate(comparisonOf([], 100, { body: 1 })));
    expect((await wait('--requests', '100', '--fail-on', 'unknown>5%')).code).toBe(0);
    serve(unknown);
    expect((await wait('--for', '10ms', '--fail-on', 'unknown>5%')).code).toBe(1);
  });

  it('exits with 1 if the saved file has problems, even if an earlier version of it is compared', async () => {
    for (const status of [undefined, SAME]) {
      const others = { candidate: fakeCandidate(status), candidateFile: rejectedFile([PROBLEM], MANIFEST) };
      const other = await startGatewayWithAdmin(MANIFEST, {}, {}, others);
      const result = await runCandidate({ args: ['wait', '--requests', '10', '--url', other.admin.url] });
      expect(result).toMatchObject({ code: 1, out: expect.stringContaining('the saved file is not compared') });
      await other.close();
    }
  });

  it.each([
    ['there is no candidate', [undefined], 'the gateway has no candidate; start one with'],
    ['the candidate disappears', [SAME, undefined], 'the candidate is gone'],
    ['the candidate is replaced', [SAME, { ...SAME, hash: 'd'.repeat(64) }], '(cccccccccccc by dddddddddddd)'],
    ['the active manifest changes', [SAME, { ...SAME, activeHash: 'd'.repeat(64) }], 'the active manifest changed'],
    ['the comparison begins again', [SAME, { ...SAME, since: new Date() }], 'the comparison began again'],
    ['the counts begin again', [SAME, activeCandidate(comparisonOf([], 4))], 'the comparison began again'],
  ])('fails if %s', async (_name, reports, message) => {
    serve(...reports);
    expect(await wait('--requests', '10')).toMatchObject({ code: 2, out: '', err: expect.stringContaining(message) });
  });

  it('fails if the gateway disappears', async () => {
    const other = await startGatewayWithAdmin(MANIFEST, {}, {}, { candidate: fakeCandidate(SAME) });
    const client = createAdminClient({ url: other.admin.url, token: undefined }, new AbortController().signal);
    const limits = { requests: 10, forMs: undefined, failOn: parseFailOn(undefined) };
    let closing: Promise<void> | undefined;
    const err = () => {
      closing ??= other.close();
    };
    const terminal = { err, errIsTerminal: true, stop: new AbortController().signal };
    await expect(waitForRequests(client, limits, terminal, 200)).rejects.toThrow(/^no response from .*: ECONNREFUSED/);
    await closing;
  });

  it('continues if one poll gets no response', async () => {
    serve(SAME);
    let polls = 0;
    const body = JSON.stringify(await (await fetch(`${site.admin.url}/candidate`)).json());
    const server = createServer((request, response) => {
      polls += 1;
      if (polls === 2) request.socket.destroy();
      else
        response.end(
          body.replace('"same":5', `"same":${5 + polls}`).replace('"requests":5', `"requests":${5 + polls}`),
        );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, out } = await runCandidate({ args: ['wait', '--requests', '8', '--url', url] });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect([code, out, polls]).toEqual([0, expect.stringContaining('requests   8: 8 same'), 3]);
  });

  it('shows its progress at a terminal, and clears the line before the report', async () => {
    const [changed, unknown] = [[changeGroup({ requests: 1 })], { body: 2 }];
    serve(activeCandidate(comparisonOf(changed, 4, unknown)), activeCandidate(comparisonOf(changed, 9, unknown)));
    const args = ['wait', '--requests', '10', '--for', '2m', '--url', site.admin.url];
    const { err } = await runCandidate({ args, isTerminal: true });
    const lines = err.split('\r\x1b[K');
    expect(lines[1]).toMatch(/^compared: 5 of 10 requests, 1 changed, 2 unknown, (?:2:00|1:5\d) left$/);
    expect(lines.at(-1)).toBe('');
  });

  it('ends with 2 when it is stopped', async () => {
    serve(SAME);
    const stop = new AbortController();
    const onMessage = () => stop.abort('SIGINT');
    const args = ['wait', '--requests', '10', '--url', site.admin.url];
    const { code, out, err } = await runCandidate({ args, stop: stop.signal, isTerminal: true, onMessage });
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/\r\x1b\[Ksigning-gateway: stopped by SIGINT; the candidate of the gateway stays as it is\n$/);
  });

  it('ends with 2 and a message after Ctrl+C', async () => {
    serve(SAME);
    const polled = new Promise<void>((resolve) => {
      const get = () => {
        resolve();
        return SAME;
      };
      Object.defineProperty(candidate, 'status', { configurable: true, get });
    });
    const process = startCli(
      ['candidate', 'wait', '--requests', '10', '--url', site.admin.url],
      temporaryFolder('wait'),
    );
    await polled;
    process.child.kill('SIGINT');
    expect(await process.result).toMatchObject({ code: 2, out: '', err: expect.stringContaining('stopped by SIGINT') });
  });
});

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { MAIN, runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MANIFEST = `version: 1
upstreams: { files: { url: '\${FILES_URL}' } }
routes:
  - { id: download, method: GET, path: '/files/{name}', upstream: files, access: public }
`;

const line = (members: object) =>
  `${JSON.stringify({ level: 30, time: 1, msg: 'request', method: 'GET', peer: '127.0.0.1', ...members })}\n`;
const DOWNLOAD = line({ path: '/files/secret-name', route: 'download', upstream: 'files', status: 200, gatewayMs: 1 });
const UNKNOWN = line({ path: '/admin.php', status: 404, refusal: 'route_unknown', reason: 'route_unknown' });

const CASES = `# Recorded from 3 requests of an access log.
version: 1
manifest: gateway.yaml
environment:
  FILES_URL: "https://placeholder.internal"
cases:
  # 2 requests
  - name: download is forwarded
    request: { method: GET, url: /files/name }
    expect: { route: download, status: 200 }

  # 1 request
  - name: a request is refused with route_unknown
    request: { method: GET, url: /x }
    expect: { route: null, refusal: route_unknown, upstream: null }
`;

const folderWith = (log: string) => temporaryFolder('record', { 'gateway.yaml': MANIFEST, 'access.log': log });

describe('record', () => {
  it('prints a test file that passes and is formatted, without values of the environment', async () => {
    const folder = folderWith(DOWNLOAD + UNKNOWN + DOWNLOAD);
    const env = { FILES_URL: 'https://internal-name.example' };
    const { code, out, err } = await runCli(['record', 'access.log'], folder, env);
    expect({ code, out, err }).toEqual({ code: 0, out: CASES, err: '2 test cases for 3 requests\n' });
    writeFileSync(join(folder, 'cases.yaml'), out);
    expect((await runCli(['fmt', '--check', 'cases.yaml'], folder)).code).toBe(0);
    expect((await runCli(['test', 'cases.yaml'], folder)).out).toContain('cases.yaml: 2 passed\n');
  });

  it('reads compressed logs and the standard input', () => {
    const folder = folderWith('');
    writeFileSync(join(folder, 'old.log'), gzipSync(DOWNLOAD + UNKNOWN));
    const args = [MAIN, 'record', 'old.log', '-', '--manifest', 'gateway.yaml'];
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, input: DOWNLOAD, encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, CASES]);
  });

  it('reports the lines that it skipped, and requests without a case', async () => {
    const timeout = line({ route: 'download', path: '/files/a', status: 504, refusal: 'upstream_timeout' });
    const ready = line({ msg: 'listening' });
    const { code, out, err } = await runCli(
      ['record', 'access.log'],
      folderWith(`${ready}text\n${DOWNLOAD}${timeout}${line({ status: 'x' })}${DOWNLOAD.slice(0, 50)}`),
    );
    expect(code).toBe(0);
    expect(out).toMatch(
      /\n\n# Requests without a test case:\n# - 1 request: download refused with upstream_timeout, which no test case can cause\n$/,
    );
    expect(err).toBe(
      'lines of other programs, without JSON: 1 skipped, the first at access.log:2\n' +
        'requests with a member of the wrong type: 1 skipped, the first at access.log:5, in which "status" is invalid\n' +
        'lines whose JSON ends too early: 1 skipped, the first at access.log:6\n' +
        '1 test case for 1 request; 1 request has none, see the end of the file\n',
    );
  });

  it('fails after the cases if a log could not be read to its end', async () => {
    const folder = folderWith('');
    const bytes = gzipSync(DOWNLOAD.repeat(50_000));
    writeFileSync(join(folder, 'cut.gz'), bytes.subarray(0, bytes.length - 20));
    const { code, out, err } = await runCli(['record', 'cut.gz'], folder);
    expect(code).toBe(1);
    expect(out).toContain('name: download is forwarded');
    expect(err).toMatch(/^cut\.gz: the compressed data ends early; copy the file again \(after line \d+\)$/m);
  });

  it.each([
    [[], 'name a log, or "-" to read it from the standard input'],
    [['-', '-'], 'the standard input can be read once; name "-" once'],
    [['missing.log'], 'missing.log: no such file; name a log'],
    [['.'], '.: this is a folder; name the logs in it'],
    [['access.log', '--max', 'x'], '--max takes an integer, not "x"'],
    [['access.log', '--manifest', 'missing.yaml'], 'missing.yaml: no such file'],
  ])('fails with %j', async (args, message) => {
    const { code, out, err } = await runCli(['record', ...args], folderWith(DOWNLOAD));
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(`signing-gateway: ${message}`);
  });

  it('prints no file if there is no case', async () => {
    const { code, out, err } = await runCli(['record', 'access.log'], folderWith('text\n'));
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('no test case was found for 0 requests; name a log of the gateway, and the manifest');
  });

  it('prints the problems of a manifest that does not load', async () => {
    const folder = temporaryFolder('record', { 'gateway.yaml': 'version: 2\n', 'access.log': DOWNLOAD });
    const { code, out, err } = await runCli(['record', 'access.log'], folder);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('gateway.yaml:1:10 error');
  });
});

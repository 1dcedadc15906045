import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CliResult, OFFLINE_VERBS, runCli, runProcess } from '../support/cli.ts';
import { IS_DEEP } from '../support/runs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const VALID = `version: 1
upstreams: { up: { url: http://127.0.0.1:7002 } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
`;
const FILES = {
  'access.log':
    '{"level":30,"time":1767225600000,"msg":"request","method":"GET","path":"/one","route":"one","upstream":"up","status":200}\n',
  'gateway.yaml': VALID,
  'other.yaml': VALID.replace('/one', '/other'),
  'broken.yaml': VALID.replace('access: public', 'access: publik'),
  'openapi.yaml':
    "openapi: 3.1.0\ninfo: { title: One, version: '1' }\npaths: { /one: { get: { operationId: one, security: [], responses: {} } } }\n",
  'gateway.test.yaml':
    'version: 1\ncases: [{ name: one, request: { method: GET, url: /one }, expect: { route: one } }]\n',
  'failing.test.yaml':
    'version: 1\ncases: [{ name: two, request: { method: GET, url: /one }, expect: { route: two } }]\n',
};

/** Command lines of each verb: with success, with findings, and with a wrong use. */
const LINES: Readonly<Record<string, readonly string[]>> = {
  lint: ['', 'broken.yaml', 'broken.yaml -f sarif -o report.sarif', 'missing.yaml', '--explain no-such-rule'],
  explain: ['GET /one', 'GET /nowhere --json', 'GET', 'GET /one broken.yaml'],
  test: ['', 'failing.test.yaml', 'failing.test.yaml -f junit', '--fail-under 101', 'missing.test.yaml'],
  diff: ['gateway.yaml other.yaml', 'gateway.yaml other.yaml -f json --fail-on info', 'gateway.yaml broken.yaml', ''],
  replay: [
    'access.log --from gateway.yaml gateway.yaml',
    'access.log --from gateway.yaml other.yaml -f json',
    'access.log --from gateway.yaml broken.yaml',
    'access.log gateway.yaml',
  ],
  surrogate: ['GET /one/2', 'GET', 'GET /one broken.yaml'],
  routes: ['', '--json', 'broken.yaml'],
  schema: ['', 'x y z'],
  fmt: ['gateway.yaml', '--check other.yaml', 'missing.yaml'],
  init: ['', '--no-such-option'],
  completion: ['bash', 'fish', 'no-such-shell'],
  record: ['access.log', 'missing.log', ''],
  openapi: ['', '-o document.json', 'broken.yaml'],
  import: ['openapi.yaml --upstream up', 'openapi.yaml --upstream up -o routes.yaml', 'missing.yaml --upstream up', ''],
  prove: ['{"require":{"access":"public"}}', '{"require":{"access":"protected"}}', 'x', ''],
  help: ['', 'lint', 'lintt'],
  '--help': [''],
  '--version': [''],
  drift: ['openapi.yaml gateway.yaml', 'openapi.yaml other.yaml -f json', 'missing.yaml', ''],
};

interface Outcome extends CliResult {
  readonly files: Readonly<Record<string, string>>;
}

async function outcome(run: typeof runCli, line: string): Promise<Outcome> {
  const [verb = ''] = line.split(' ');
  // `init` refuses to overwrite a manifest.
  const folder = temporaryFolder('process', verb === 'init' ? {} : FILES);
  const result = await run(line.split(' ').filter(Boolean), folder);
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = names.map(({ name, parentPath }) => [name, readFileSync(join(parentPath, name), 'utf8')] as const);
  const withoutTimes = (text: string) => text.replaceAll(folder, '').replaceAll(/\btime="[\d.]+"/g, 'time=""');
  return {
    code: result.code,
    out: withoutTimes(result.out),
    err: withoutTimes(result.err),
    files: Object.fromEntries(files),
  };
}

describe('a verb that needs no network', () => {
  it('is in the table of command lines', () => {
    expect(Object.keys(LINES).sort()).toEqual([...OFFLINE_VERBS].sort());
  });

  const some = IS_DEEP ? Number.POSITIVE_INFINITY : 1;
  const lines = Object.entries(LINES).flatMap(([verb, rest]) =>
    rest.slice(0, some).map((words) => `${verb} ${words}`.trim()),
  );
  it.each(lines)('prints, writes and exits as a process as it does in the process of the tests: %s', async (line) => {
    expect(await outcome(runProcess, line)).toEqual(await outcome(runCli, line));
  });
});

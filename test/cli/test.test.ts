import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli, startCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MANIFEST = `version: 1
upstreams: { up: { url: '\${UP:-http://127.0.0.1:7002}' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
  - { id: two, method: GET, path: /two, upstream: up, access: public }
`;

const TEST_FILE = `version: 1
cases:
  - name: one & "only" <one>
    request: { method: GET, url: /one }
    expect: { route: one, upstream: { url: 'http://127.0.0.1:7002/one' } }
`;

const folderWith = (files: Record<string, string>) => temporaryFolder('test', files);

const files = { 'gateway.yaml': MANIFEST, 'gateway.test.yaml': TEST_FILE };
const failing = TEST_FILE.replace('route: one', 'route: two');

describe('test', () => {
  it('exits with 0 if all cases pass, and ignores the environment of the process', async () => {
    const { code, out, err } = await runCli(['test'], folderWith(files), { UP: 'http://10.9.8.7:6' });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toBe(`gateway.test.yaml: 1 passed
coverage of routes, roles, refusals and values 20 %: 1 of 2 routes, 0 of 0 roles by route, 0 of 3 refusals, 0 of 0 validated values
  not covered: two: is never reached
  not covered: any route: refusal path_ambiguous, refusal route_unknown, refusal method_not_allowed
`);
  });

  it('exits with 1 if a case fails, and prints the expected and the actual value', async () => {
    const { code, out } = await runCli(['test'], folderWith({ ...files, 'gateway.test.yaml': failing }));
    expect(code).toBe(1);
    expect(out).toContain(`✗ one & "only" <one>
  gateway.test.yaml:5:22 route
    - two
    + one
`);
  });

  it('exits with 1 if the coverage is below --fail-under', async () => {
    const { code, err } = await runCli(['test', '--fail-under', '20.1'], folderWith(files));
    expect([code, err]).toEqual([1, 'coverage is below 20.1 %; add test cases or lower --fail-under\n']);
    expect((await runCli(['test', '--fail-under', '20'], folderWith(files))).code).toBe(0);
  });

  it('prints JUnit XML', async () => {
    const { out, err } = await runCli(['test', '-f', 'junit'], folderWith({ ...files, 'gateway.test.yaml': failing }));
    expect(err).toMatch(/^coverage of routes, roles, refusals and values 20 %/);
    expect(out.replaceAll(/ time="[\d.]+"/g, '')).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="signing-gateway test" tests="1" failures="1" errors="0">
  <testsuite name="gateway.test.yaml" tests="1" failures="1" errors="0" skipped="0">
    <testcase name="one &amp; &quot;only&quot; &lt;one&gt;" classname="gateway.test.yaml" file="gateway.test.yaml" line="3"><failure type="mismatch" message="route">gateway.test.yaml:5:22 route&#10;- two&#10;+ one</failure></testcase>
  </testsuite>
</testsuites>
`);
  });

  it.each([['-f', 'json'], ['--json']])('prints JSON with %j', async (...format) => {
    const { code, out, err } = await runCli(
      ['test', ...format],
      folderWith({ ...files, 'gateway.test.yaml': failing }),
    );
    expect([code, err.split(' ')[0]]).toEqual([1, 'coverage']);
    expect(JSON.parse(out)).toEqual({
      file: 'gateway.test.yaml',
      passed: 0,
      failed: 1,
      cases: [{ name: 'one & "only" <one>', line: 3, mismatches: [{ path: 'route', expected: 'two', actual: 'one' }] }],
      coverage: expect.objectContaining({ percent: 20 }),
    });
  });

  it('prints a case for each change of the manifest that no case notices, and the mutation score', async () => {
    const folder = folderWith(files);
    const { code, out, err } = await runCli(['test', '--mutate'], folder);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain(`gateway.yaml:4:24 "one" also accepts POST [method-added]
  - name: POST /one is refused with method_not_allowed
    request: { method: POST, url: /one }
    expect: { refusal: method_not_allowed, route: null, upstream: null }
`);
    const [, score, noticed, total] = /^mutation score ([\d.]+) %: (\d+) of (\d+) changes noticed/m.exec(out) ?? [];
    expect(Number(score)).toBe(Math.floor((1000 * Number(noticed)) / Number(total)) / 10);
    const cases = [...out.matchAll(/^ {2}- name: .*\n(?: {4}.*\n)+/gm)].map(([text]) => text);
    // A case stands below all changes that it notices.
    expect(out.match(/^gateway\.yaml:\d+:\d+ /gm)).toHaveLength(Number(total) - Number(noticed));
    expect(new Set(cases).size).toBe(cases.length);
    writeFileSync(join(folder, 'gateway.test.yaml'), TEST_FILE + cases.join(''));
    const completed = await runCli(['test', '--mutate'], folder);
    expect(completed.out).toContain(`mutation score 100 %: ${total} of ${total} changes noticed\n`);
  });

  it('applies --fail-under to the mutation score too, and reports the changes as JUnit XML and JSON', async () => {
    const folder = folderWith(files);
    const { code, out, err } = await runCli(['test', '--mutate', '--fail-under', '1', '-f', 'junit'], folder);
    expect(code).toBe(0);
    expect(err).toMatch(/^coverage .*\n(?: {2}.*\n)*mutation score [\d.]+ %/);
    expect(out).toMatch(/<testsuite name="gateway\.test\.yaml --mutate" tests="\d+" failures="0"/);
    const low = await runCli(['test', '--mutate', '--fail-under', '100', '-f', 'junit'], folder);
    expect([low.code, low.err]).toEqual([1, expect.stringContaining('the mutation score is below 100 %')]);
    expect(low.out).toMatch(/<failure type="unnoticed" message="&quot;one&quot; also accepts POST">/);
    const json = JSON.parse((await runCli(['test', '--mutate', '-f', 'json'], folder)).out);
    expect(json.mutation.unnoticed).toContainEqual({
      mutator: 'method-added',
      message: '"one" also accepts POST',
      file: 'gateway.yaml',
      line: 4,
      column: 24,
      case: expect.stringContaining('POST /one'),
    });
    expect(json.mutation.invisible).toEqual([]);
  });

  it('says how many changes were not tested in the time, and then no score is enough', async () => {
    const folder = folderWith(files);
    // The time may end before or after the first change is tested.
    const cut = await runCli(['test', '--mutate', '--max-time', '0s'], folder);
    expect(cut.code).toBe(0);
    expect(cut.out).toMatch(
      /^mutation score (?:not known|[\d.]+ %: .*)\n\d+ changes not tested, because --max-time was reached$/m,
    );
    const { code, err } = await runCli(['test', '--mutate', '--max-time', '0s', '--fail-under', '20'], folder);
    expect(code).toBe(1);
    expect(err).toBe('the mutation score is not known, because not all changes were tested; set a longer --max-time\n');
    const { mutation } = JSON.parse((await runCli(['test', '--mutate', '--max-time', '0s', '-f', 'json'], folder)).out);
    expect(mutation.untested).toBeGreaterThan(0);
    const invalid = await runCli(['test', '--mutate', '--max-time', '10'], folder);
    expect([invalid.code, invalid.err]).toEqual([
      2,
      expect.stringContaining('--max-time takes a duration such as 30s or 10m, not "10"'),
    ]);
  });

  it('does not change the manifest if a case fails', async () => {
    const { code, out, err } = await runCli(
      ['test', '--mutate'],
      folderWith({ ...files, 'gateway.test.yaml': failing }),
    );
    expect([code, err]).toEqual([1, 'the manifest was not changed, because cases fail; correct them first\n']);
    expect(out).not.toContain('mutation score');
  });

  it('prints only the lines of long values that differ', async () => {
    const body = (value: number) => `{ a: [1, 2, 3], b: ${value}, c: [4, 5, 6] }`;
    const testFile = `version: 1
cases:
  - name: body
    request: { method: GET, url: /one }
    response: { body: ${body(1)} }
    expect: { body: ${body(2)} }
`;
    const { out } = await runCli(['test'], folderWith({ ...files, 'gateway.test.yaml': testFile }));
    expect(out).toContain('body\n    -   "b": 2,\n    +   "b": 1,\n\n');
  });

  it('tests another manifest with -c', async () => {
    const folder = folderWith({ ...files, 'other.yaml': MANIFEST.replaceAll('one', 'three') });
    const { code, out, err } = await runCli(['test', '-c', 'other.yaml'], folder);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('gateway.test.yaml:5:22 error the manifest has no route "one"');
  });

  it('resolves the manifest relative to the test file', async () => {
    const folder = folderWith(files);
    const { code, out } = await runCli(['test', join(folder, 'gateway.test.yaml')], tmpdir());
    expect([code, out.split('\n')[0]]).toEqual([0, `${folder}/gateway.test.yaml: 1 passed`]);
  });

  it('exits with 1 for an error in the test file or the manifest', async () => {
    const invalid = await runCli(
      ['test'],
      folderWith({ ...files, 'gateway.test.yaml': TEST_FILE.replace('url: /one', 'uri: /one') }),
    );
    expect([invalid.code, invalid.out]).toEqual([1, '']);
    expect(invalid.err).toMatch(/^gateway\.test\.yaml:4:\d+ error unknown key "uri"; did you mean "url"\?/);
    const broken = await runCli(['test'], folderWith({ ...files, 'gateway.yaml': 'version: 2\n' }));
    expect([broken.code, broken.out]).toEqual([1, '']);
    expect(broken.err).toMatch(/^gateway\.yaml:1:/);
  });

  it.each([
    ['a missing file', ['nothing.yaml']],
    ['two files', ['gateway.test.yaml', 'gateway.yaml']],
    ['a coverage that is not a number', ['--fail-under', 'all']],
    ['a coverage above 100', ['--fail-under', '101']],
    ['an unknown format', ['-f', 'tap']],
    ['a missing manifest', ['-c', 'nothing.yaml']],
  ])('exits with 2 for %s', async (_case, args) => {
    const { code, out, err } = await runCli(['test', ...args], folderWith(files));
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^signing-gateway: \S/);
  });

  it.each([
    ['', '1:1 error this file names no manifest, and gateway.yaml beside it cannot be read: it does not exist'],
    ['manifest: other.yaml\n', '2:11 error the manifest cannot be read: it does not exist'],
  ])('reports a missing manifest in the test file with %j', async (key, expected) => {
    const text = TEST_FILE.replace('version: 1\n', `version: 1\n${key}`);
    const { code, out, err } = await runCli(['test'], folderWith({ 'gateway.test.yaml': text }));
    expect([code, out]).toEqual([1, '']);
    const first = `gateway.test.yaml:${expected}; write a path relative to this file [manifest-file]`;
    expect(err.split('\n')[0]).toBe(first);
  });

  it('runs again with --watch when the test file or the manifest changes, until a signal stops it', async () => {
    const folder = folderWith(files);
    const { child, waitFor, result } = startCli(['test', '--watch'], folder);
    await waitFor(/1 passed[\s\S]*waiting for changes\n$/);
    writeFileSync(join(folder, 'gateway.test.yaml'), failing);
    await waitFor(/1 failed[\s\S]*waiting for changes\n$/);
    writeFileSync(
      join(folder, 'gateway.yaml'),
      MANIFEST.replace('id: one', 'id: first').replace('id: two', 'id: one').replace('id: first', 'id: two'),
    );
    await waitFor(/1 failed[\s\S]*1 passed/);
    rmSync(join(folder, 'gateway.yaml'));
    await waitFor(
      /gateway\.test\.yaml:1:1 error this file names no manifest, and gateway\.yaml beside it cannot be read/,
    );
    writeFileSync(join(folder, 'gateway.yaml'), MANIFEST.replace('id: one', 'id: more'));
    await waitFor(/the manifest has no route "one"|has no route "two"|1 failed[\s\S]*1 failed/);
    writeFileSync(join(folder, 'gateway.test.yaml'), TEST_FILE.replace('route: one', 'route: more'));
    await waitFor(/1 passed[\s\S]*1 passed[\s\S]*1 passed/);
    child.kill('SIGTERM');
    expect((await result).code).toBe(0);
  });
});

describe('test --max-uncovered', () => {
  const routesOf = (count: number, more: (index: number) => string) =>
    Array.from(
      { length: count },
      (_, index) =>
        `  - { id: r${index}, method: GET, path: /r${index}, upstream: up, access: public${more(index)} }\n`,
    ).join('');
  const uncovered = async (routes: string, ...args: string[]) => {
    const text = `${MANIFEST.replace(/ {2}- .*two.*\n/, '')}${routes}`;
    const { code, out } = await runCli(['test', ...args], folderWith({ ...files, 'gateway.yaml': text }));
    expect(code).toBe(0);
    return out.split('\n').filter((line) => line.startsWith('  '));
  };
  const distinct = (index: number) => `, query: { properties: { q${index}: { type: string, maxLength: 3 } } }`;

  it('groups routes that lack the same, and says how to print everything', async () => {
    expect(await uncovered(routesOf(2000, () => ''))).toEqual([
      '  not covered: r0, r1, r2, r3, r4, r5, r6, r7, r8, r9 and 1990 more: is never reached',
      expect.stringMatching(/^ {2}not covered: any route: refusal /),
      '  "test --max-uncovered 0" prints everything',
    ]);
  });

  it('groups no fewer than four routes, and omits nothing of few ones', async () => {
    expect(await uncovered(routesOf(3, () => ''))).toHaveLength(4);
    expect(await uncovered(routesOf(4, () => ''))).toEqual([
      '  not covered: r0, r1, r2, r3: is never reached',
      expect.stringContaining('any route'),
    ]);
  });

  it('prints 50 lines by default, another number, or a line for each route', async () => {
    const routes = routesOf(60, distinct);
    const lines = await uncovered(routes);
    expect([lines.length, lines[50]]).toEqual([51, '  and 11 more routes; "test --max-uncovered 0" prints everything']);
    expect(await uncovered(routes, '--max-uncovered', '2')).toHaveLength(3);
    expect(await uncovered(routes, '--max-uncovered', '0')).toHaveLength(61);
    expect(
      await uncovered(
        routesOf(60, () => ''),
        '--max-uncovered=0',
      ),
    ).toHaveLength(61);
  });

  it('refuses a limit that is not an integer', async () => {
    const { code, err } = await runCli(['test', '--max-uncovered', 'all'], folderWith(files));
    expect([code, err]).toEqual([2, expect.stringContaining('--max-uncovered takes an integer, not "all"')]);
  });
});

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { runCandidate } from '../cli/candidate/support.ts';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { CANDIDATES, FILES } from './support.ts';

const CASES = new URL('cases/', import.meta.url);
const UPDATE = process.env['UPDATE_GOLDEN'] === '1';

const LOGS = 'replay access.log --from old.yaml';
/** The commands by the name of their golden file. */
const COMMANDS: Readonly<Record<string, string>> = {
  ...each('diff', 'diff old.yaml new.yaml', ['text', 'json', 'markdown']),
  ...each('diff-same', 'diff old.yaml old.yaml', ['text', 'json', 'markdown']),
  ...each('drift', 'drift openapi.yaml old.yaml', ['text', 'json', 'markdown']),
  ...each('replay', `${LOGS} new.yaml`, ['pretty', 'json', 'markdown', 'sarif', 'junit']),
  ...each('replay-reversed', 'replay access.log --from new.yaml old.yaml', ['pretty', 'json', 'markdown', 'junit']),
  ...each('replay-same', `${LOGS} old.yaml`, ['pretty', 'json', 'markdown', 'sarif', 'junit']),
  ...each('test', 'test failing.test.yaml', ['text', 'json', 'junit']),
  ...each('test-all', 'test failing.test.yaml --max-uncovered 0', ['text']),
  ...each('mutate', 'test passing.test.yaml --mutate', ['text', 'json', 'junit']),
  ...each('mutate-fail', 'test passing.test.yaml --mutate --fail-under 100', ['junit']),
};

function each(name: string, command: string, formats: readonly string[]): Record<string, string> {
  return Object.fromEntries(formats.map((format) => [`${name}.${format}`, `${command} -f ${format}`]));
}

const STATES = Object.keys(CANDIDATES).flatMap((name) => ['pretty', 'markdown'].map((format) => ({ name, format })));

const folder = temporaryFolder('report', FILES);

function expectGolden(name: string, printed: string): void {
  const golden = new URL(`${name}.out`, CASES);
  if (UPDATE) writeFileSync(golden, printed);
  expect(printed).toBe(readFileSync(golden, 'utf8'));
}

describe('the output of a verb', () => {
  it.each(Object.entries(COMMANDS))('matches its golden file: %s', async (name, command) => {
    const { out, err, code } = await runCli(command.split(' '), folder);
    const stable = out
      .replaceAll(/ time="[\d.]+"/g, ' time="0.000"')
      .replace(/"semanticVersion": ".*"/, '"semanticVersion": "1.2.3"');
    expectGolden(name, `${stable}--- ${code}\n${err}`);
  });

  it.each(STATES)('matches its golden file: candidate $name as $format', async ({ name, format }) => {
    const server = createServer((_request, response) => response.end(JSON.stringify(CANDIDATES[name])));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const print = async (as: string) => (await runCandidate({ args: ['status', '--url', url, '-f', as] })).out;
    expectGolden(`candidate-${name}.${format}`, await print(format));
    expect(await print('json')).toBe(`${JSON.stringify(CANDIDATES[name], null, 2)}\n`);
    server.close();
  });

  it('has no unused golden file', () => {
    const names = [...Object.keys(COMMANDS), ...STATES.map(({ name, format }) => `candidate-${name}.${format}`)];
    expect(readdirSync(CASES).sort()).toEqual(names.map((name) => `${name}.out`).sort());
  });
});

import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { describe, expect, it } from 'vitest';
import { OUTPUT_OPTIONS, readOutputs } from '../../src/cli/lint/outputs.ts';
import { UsageError } from '../../src/cli/terminal.ts';
import { writeFileAtomic } from '../../src/cli/write-file-atomic.ts';
import { runCli } from '../support/cli.ts';

const BROKEN = 'version: 2\nupstreams: { up: { url: http://127.0.0.1:7002 } }\nroutes: []\n';
const GOOD = `version: 1
upstreams: { up: { url: http://127.0.0.1:7002 } }
routes: [{ id: one, method: GET, path: /one, upstream: up, access: public }]
`;

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'outputs-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

function outputsOf(...args: string[]) {
  const { tokens } = parseArgs({ args, options: OUTPUT_OPTIONS, tokens: true });
  return readOutputs(tokens, ['gateway.yaml']);
}

describe('the outputs', () => {
  it.each([
    [[], [{ format: 'pretty' }]],
    [['-f', 'json'], [{ format: 'json' }]],
    [['-fjson', '-o', 'x.json'], [{ format: 'json', file: 'x.json' }]],
    [
      ['-f', 'sarif', '-o', 'out.sarif', '-f', 'github'],
      [{ format: 'sarif', file: 'out.sarif' }, { format: 'github' }],
    ],
    [
      ['--format=junit', '--format=gitlab', '--output=q.json'],
      [{ format: 'junit' }, { format: 'gitlab', file: 'q.json' }],
    ],
  ])('%j', (args, outputs) => expect(outputsOf(...args)).toEqual(outputs));

  it.each([
    [['-f', 'sarfi'], 'there is no format "sarfi"; did you mean "sarif"?'],
    [['-f', 'constructor'], /^there is no format "constructor"/],
    [['-o', 'x.json', '-f', 'json'], 'write -f FORMAT before "-o x.json"'],
    [['-f', 'json', '-o', 'a', '-o', 'b'], 'json goes to a already; write -f FORMAT before "-o b"'],
    [['-f', 'json', '-o', ''], 'name a file after -o for json'],
    [['-f', 'json', '-f', 'sarif'], 'one format at most goes to the standard output, not json and sarif; add -o FILE'],
    [['-f', 'json', '-o', 'a', '-f', 'sarif', '-o', './a'], './a is taken already; write another file after -o'],
    [['-f', 'json', '-o', './gateway.yaml'], './gateway.yaml is taken already; write another file after -o'],
  ])('refuses %j', (args, message) => {
    expect(() => outputsOf(...args)).toThrow(UsageError);
    expect(() => outputsOf(...args)).toThrow(message);
  });
});

describe('lint', () => {
  it('writes several formats at once, the last of them to the standard output', async () => {
    const folder = folderWith({ 'gateway.yaml': BROKEN, 'good.yaml': GOOD });
    const args = ['./gateway.yaml', join(folder, 'good.yaml'), '-f', 'sarif', '-o', 'out.sarif', '-f', 'github'];
    const { code, out, err } = await runCli(['lint', ...args], folder);
    expect([code, err]).toEqual([1, '2 problems in gateway.yaml, good.yaml: 2 errors\n']);
    expect(out.match(/^::error file=gateway\.yaml,line=/gm)).toHaveLength(2);
    const [{ results }] = JSON.parse(readFileSync(join(folder, 'out.sarif'), 'utf8')).runs;
    expect(results).toHaveLength(2);
    expect(readdirSync(folder).sort()).toEqual(['gateway.yaml', 'good.yaml', 'out.sarif']);
  });

  it('prints nothing where every format has its file, and writes clean reports too', async () => {
    const folder = folderWith({ 'gateway.yaml': GOOD });
    const { code, out } = await runCli(['lint', '-f', 'json', '-o', 'report.json'], folder);
    expect([code, out]).toEqual([0, '']);
    expect(JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'))).toMatchObject({
      problems: [],
      files: ['gateway.yaml'],
    });
  });

  it('names a manifest by its path from the folder, and one outside of it as it was called', async () => {
    const folder = folderWith({ 'gateway.yaml': BROKEN });
    const shown = async (file: string, cwd: string) =>
      (await runCli(['lint', file, '-f', 'stylish'], cwd)).out.split('\n')[0];
    const file = join(folder, 'gateway.yaml');
    expect(await shown(file, tmpdir())).toBe(`${basename(folder)}/gateway.yaml`);
    expect(await shown(file, mkdtempSync(join(tmpdir(), 'outputs-')))).toBe(file);
  });

  it('exits with 2 where a report cannot be written, and says why', async () => {
    const folder = folderWith({ 'gateway.yaml': GOOD });
    const { code, out, err } = await runCli(['lint', '-f', 'json', '-o', 'no/such/report.json'], folder);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^signing-gateway: no\/such\/report\.json cannot be written: ENOENT/);
  });
});

describe('a file that is written', () => {
  it('keeps its mode, and the link that leads to it', () => {
    const folder = folderWith({ target: 'old' });
    chmodSync(join(folder, 'target'), 0o640);
    symlinkSync('target', join(folder, 'link'));
    writeFileAtomic(join(folder, 'link'), 'new');
    expect(readFileSync(join(folder, 'target'), 'utf8')).toBe('new');
    expect([statSync(join(folder, 'target')).mode & 0o777, lstatSync(join(folder, 'link')).isSymbolicLink()]).toEqual([
      0o640,
      true,
    ]);
  });

  it('leaves a device a device', () => {
    writeFileAtomic('/dev/null', 'x');
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  it('leaves the old one, and nothing beside it, when it cannot be written', () => {
    const folder = folderWith({});
    expect(() => writeFileAtomic(join(folder, 'x\0y'), 'new')).toThrow(/cannot be written/);
    expect(() => writeFileAtomic(folder, 'new')).toThrow(/cannot be written/);
    expect(readdirSync(folder)).toEqual([]);
  });
});

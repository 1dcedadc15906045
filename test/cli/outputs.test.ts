import { chmodSync, lstatSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { describe, expect, it } from 'vitest';
import { LINT_OPTIONS, readOutputs } from '../../src/cli/lint/lint-arguments.ts';
import { UsageError } from '../../src/cli/terminal.ts';
import { writeFileAtomic } from '../../src/cli/write-file-atomic.ts';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const BROKEN = 'version: 2\nupstreams: { up: { url: http://127.0.0.1:7002 } }\nroutes: []\n';
const GOOD = `version: 1
upstreams: { up: { url: http://127.0.0.1:7002 } }
routes: [{ id: one, method: GET, path: /one, upstream: up, access: public }]
`;

const folderWith = (files: Readonly<Record<string, string>>) => temporaryFolder('outputs', files);

function outputsOf(...args: string[]) {
  const { tokens } = parseArgs({ args, options: LINT_OPTIONS, tokens: true });
  return readOutputs(tokens, ['gateway.yaml']);
}

describe('readOutputs', () => {
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
  ])('parses %j', (args, outputs) => expect(outputsOf(...args)).toEqual(outputs));

  it.each([
    [['-f', 'sarfi'], 'unknown --format "sarfi"; did you mean "sarif"?'],
    [['-f', 'constructor'], /^unknown --format "constructor"/],
    [['-o', 'x.json', '-f', 'json'], 'write -f FORMAT before "-o x.json"'],
    [['-f', 'json', '-o', 'a', '-o', 'b'], 'json already goes to a; write -f FORMAT before "-o b"'],
    [['-f', 'json', '-o', ''], 'name a file after -o for json'],
    [['-f', 'json', '-f', 'sarif'], 'only one format can go to standard output, not json and sarif; add -o FILE'],
    [
      ['-f', 'json', '-o', 'a', '-f', 'sarif', '-o', './a'],
      './a is already an input or an output; name another file after -o',
    ],
    [
      ['-f', 'json', '-o', './gateway.yaml'],
      './gateway.yaml is already an input or an output; name another file after -o',
    ],
  ])('rejects %j', (args, message) => {
    expect(() => outputsOf(...args)).toThrow(UsageError);
    expect(() => outputsOf(...args)).toThrow(message);
  });
});

describe('lint', () => {
  it('writes several formats, the one without a file to standard output', async () => {
    const folder = folderWith({ 'gateway.yaml': BROKEN, 'good.yaml': GOOD });
    const args = ['./gateway.yaml', join(folder, 'good.yaml'), '-f', 'sarif', '-o', 'out.sarif', '-f', 'github'];
    const { code, out, err } = await runCli(['lint', ...args], folder);
    expect([code, err]).toEqual([1, '2 problems in gateway.yaml, good.yaml: 2 errors\n']);
    expect(out.match(/^::error file=gateway\.yaml,line=/gm)).toHaveLength(2);
    const [{ results }] = JSON.parse(readFileSync(join(folder, 'out.sarif'), 'utf8')).runs;
    expect(results).toHaveLength(2);
    expect(readdirSync(folder).sort()).toEqual(['gateway.yaml', 'good.yaml', 'out.sarif']);
  });

  it('prints nothing if every format has a file, and writes reports without problems too', async () => {
    const folder = folderWith({ 'gateway.yaml': GOOD });
    const { code, out } = await runCli(['lint', '-f', 'json', '-o', 'report.json'], folder);
    expect([code, out]).toEqual([0, '']);
    expect(JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'))).toMatchObject({
      problems: [],
      files: ['gateway.yaml'],
    });
  });

  it('names a manifest by its relative path, and one outside the working folder as given', async () => {
    const folder = folderWith({ 'gateway.yaml': BROKEN });
    const firstLineFor = async (file: string, cwd: string) =>
      (await runCli(['lint', file, '-f', 'stylish'], cwd)).out.split('\n')[0];
    const file = join(folder, 'gateway.yaml');
    expect(await firstLineFor(file, tmpdir())).toBe(`${basename(folder)}/gateway.yaml`);
    expect(await firstLineFor(file, folderWith({}))).toBe(file);
  });

  it('exits with 2 if a report cannot be written, and prints the reason', async () => {
    const folder = folderWith({ 'gateway.yaml': GOOD });
    const { code, out, err } = await runCli(['lint', '-f', 'json', '-o', 'no/such/report.json'], folder);
    expect([code, out]).toEqual([2, '']);
    expect(err).toBe(
      'signing-gateway: cannot write no/such/report.json: the folder no/such does not exist; create it\n',
    );
  });
});

describe('writeFileAtomic', () => {
  it('keeps the mode of a file and the symbolic link to it', () => {
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

  it('writes to a device without replacing it', () => {
    writeFileAtomic('/dev/null', 'x');
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  it('leaves no temporary file if the write fails', () => {
    const folder = folderWith({});
    expect(() => writeFileAtomic(join(folder, 'x\0y'), 'new')).toThrow(/cannot write .*: no path has a NUL character/);
    expect(() => writeFileAtomic(folder, 'new')).toThrow(/cannot write .*: it is a folder; name a file in it$/);
    writeFileSync(join(folder, 'file'), '');
    expect(() => writeFileAtomic(join(folder, 'file/x'), 'new')).toThrow(
      /file is not a folder; name a file in a folder$/,
    );
    rmSync(join(folder, 'file'));
    expect(readdirSync(folder)).toEqual([]);
  });
});

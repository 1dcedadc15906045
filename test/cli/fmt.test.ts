import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAIN, runCli } from '../support/cli.ts';

const TIDY = 'version: 1\n\n# two of them\nupstreams:\n  up: { url: http://127.0.0.1:1 } # one\n';
const UNTIDY = '\uFEFFversion: 1\r\n\r\n\r\n# two of them\r\nupstreams:\r\n    up: {url: http://127.0.0.1:1} # one';

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'fmt-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

describe('fmt', () => {
  it('writes what it changes, and names it', async () => {
    const folder = folderWith({ 'gateway.yaml': UNTIDY, 'tidy.yaml': TIDY });
    const before = statSync(join(folder, 'tidy.yaml'));
    expect(await runCli(['fmt', 'gateway.yaml', 'tidy.yaml'], folder)).toEqual({
      code: 0,
      out: 'gateway.yaml\n',
      err: '',
    });
    expect(readFileSync(join(folder, 'gateway.yaml'), 'utf8')).toBe(TIDY);
    expect(statSync(join(folder, 'tidy.yaml')).ino).toBe(before.ino);
  });

  it('--check writes nothing, and tells the first line that is another', async () => {
    const folder = folderWith({
      'gateway.yaml': TIDY.replace('  up', '   up'),
      'tidy.yaml': TIDY,
      'short.yaml': TIDY.trimEnd(),
    });
    const { code, out, err } = await runCli(['fmt', '--check', 'gateway.yaml', 'tidy.yaml', 'short.yaml'], folder);
    expect([code, err]).toEqual([1, '']);
    expect(out).toBe('gateway.yaml:5 is not laid out as fmt does it\nshort.yaml:6 is not laid out as fmt does it\n');
    expect(readFileSync(join(folder, 'gateway.yaml'), 'utf8')).toContain('   up');
    expect((await runCli(['fmt', '--check', '-c', 'tidy.yaml'], folder)).code).toBe(0);
  });

  it('prints what comes by the standard input', async () => {
    const fmt = (...args: string[]) =>
      spawnSync(process.execPath, [MAIN, 'fmt', '-', ...args], { input: UNTIDY, encoding: 'utf8' });
    expect(fmt()).toMatchObject({ status: 0, stdout: TIDY });
    expect(fmt('--check')).toMatchObject({ status: 1, stdout: '<stdin>:1 is not laid out as fmt does it\n' });
  });

  it('leaves a text that is no YAML as it is, and says why', async () => {
    const folder = folderWith({ 'gateway.yaml': 'a:  [1\n' });
    const { code, out, err } = await runCli(['fmt'], folder);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^gateway\.yaml:1:5 error this list is never closed/);
    expect(readFileSync(join(folder, 'gateway.yaml'), 'utf8')).toBe('a:  [1\n');
  });

  it('refuses to change what a text means', async () => {
    // The parser takes a byte order mark for a column of what is indented behind it; without the mark this is another value.
    const text = '\uFEFF  a: |1\n    one\n';
    const folder = folderWith({ 'gateway.yaml': text });
    const { code, err } = await runCli(['fmt'], folder);
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/^signing-gateway: gateway\.yaml: laying it out would change what it means/),
    ]);
    expect(readFileSync(join(folder, 'gateway.yaml'), 'utf8')).toBe(text);
  });
});

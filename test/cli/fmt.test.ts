import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAIN, runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const FORMATTED = 'version: 1\n\n# two of them\nupstreams:\n  up: { url: http://127.0.0.1:1 } # one\n';
const UNFORMATTED =
  '\uFEFFversion: 1\r\n\r\n\r\n# two of them\r\nupstreams:\r\n    up: {url: http://127.0.0.1:1} # one';

const crlf = (text: string) => text.replaceAll('\n', '\r\n');

describe('fmt', () => {
  it('writes the files that it changes and prints their names', async () => {
    const folder = temporaryFolder('fmt', { 'gateway.yaml': UNFORMATTED, 'formatted.yaml': FORMATTED });
    const before = statSync(join(folder, 'formatted.yaml'));
    expect(await runCli(['fmt', 'gateway.yaml', 'formatted.yaml'], folder)).toEqual({
      code: 0,
      out: 'gateway.yaml\n',
      err: '',
    });
    expect(readFileSync(join(folder, 'gateway.yaml'), 'utf8')).toBe(crlf(FORMATTED));
    expect(statSync(join(folder, 'formatted.yaml')).ino).toBe(before.ino);
  });

  it('reports the first line that differs with --check, and writes nothing', async () => {
    const folder = temporaryFolder('fmt', {
      'gateway.yaml': FORMATTED.replace('  up', '   up'),
      'formatted.yaml': FORMATTED,
      'short.yaml': FORMATTED.trimEnd(),
    });
    const { code, out, err } = await runCli(['fmt', '--check', 'gateway.yaml', 'formatted.yaml', 'short.yaml'], folder);
    expect([code, err]).toEqual([1, '']);
    expect(out).toBe('gateway.yaml:5 is not formatted; run fmt\nshort.yaml:6 is not formatted; run fmt\n');
    expect(readFileSync(join(folder, 'gateway.yaml'), 'utf8')).toContain('   up');
    expect((await runCli(['fmt', '--check', '-c', 'formatted.yaml'], folder)).code).toBe(0);
  });

  it('formats standard input to standard output', async () => {
    const fmt = (...args: string[]) =>
      spawnSync(process.execPath, [MAIN, 'fmt', '-', ...args], { input: UNFORMATTED, encoding: 'utf8' });
    expect(fmt()).toMatchObject({ status: 0, stdout: crlf(FORMATTED) });
    expect(fmt('--check')).toMatchObject({ status: 1, stdout: '<stdin>:1 is not formatted; run fmt\n' });
  });

  it('keeps the line ends of a file, and of both kinds the one of most lines', async () => {
    const [first = '', ...rest] = FORMATTED.split(/(?<=\n)/);
    const files = {
      'crlf.yaml': crlf(FORMATTED),
      'mostly-crlf.yaml': first + crlf(rest.join('')),
      'mostly-lf.yaml': crlf(first) + rest.join(''),
    };
    const folder = temporaryFolder('fmt', files);
    expect(await runCli(['fmt', '--check', 'crlf.yaml'], folder)).toEqual({ code: 0, out: '', err: '' });
    expect((await runCli(['fmt', '--check', 'mostly-crlf.yaml', 'mostly-lf.yaml'], folder)).out).toBe(
      'mostly-crlf.yaml:1 is not formatted; run fmt\nmostly-lf.yaml:1 is not formatted; run fmt\n',
    );
    await runCli(['fmt', ...Object.keys(files)], folder);
    const texts = Object.keys(files).map((file) => readFileSync(join(folder, file), 'utf8'));
    expect(texts).toEqual([crlf(FORMATTED), crlf(FORMATTED), FORMATTED]);
    expect((await runCli(['fmt', '--check', ...Object.keys(files)], folder)).code).toBe(0);
  });

  it('does not change a file that is not valid YAML, and prints the problem', async () => {
    const folder = temporaryFolder('fmt', { 'gateway.yaml': 'a:  [1\n' });
    const { code, out, err } = await runCli(['fmt'], folder);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^gateway\.yaml:1:5 error this list is never closed/);
    expect(readFileSync(join(folder, 'gateway.yaml'), 'utf8')).toBe('a:  [1\n');
  });

  it('does not write a file whose meaning would change', async () => {
    // The parser counts a byte order mark as a column of the indentation, so the value changes without the mark.
    const text = '\uFEFF  a: |1\n    one\n';
    const folder = temporaryFolder('fmt', { 'gateway.yaml': text });
    const { code, err } = await runCli(['fmt'], folder);
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(
        /^signing-gateway: gateway\.yaml: not written, because formatting would change its meaning/,
      ),
    ]);
    expect(readFileSync(join(folder, 'gateway.yaml'), 'utf8')).toBe(text);
  });
});

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CompletionVerb } from '../../../src/cli/completion/completion-script.ts';
import { SHELLS } from '../../../src/cli/completion/shells.ts';
import { runCli } from '../../support/cli.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const UPDATE = process.env['UPDATE_GOLDEN'] === '1';
const NAMES = Object.keys(SHELLS) as (keyof typeof SHELLS)[];
const isInstalled = (shell: string) => spawnSync(shell, ['-c', ':']).status === 0;

const VERBS: readonly CompletionVerb[] = [
  { name: 'serve', summary: `serve the user's "files": at $HOME \\ [here]`, options: {} },
  {
    name: 'show',
    summary: 'show a file',
    options: {
      format: {
        type: 'string',
        short: 'f',
        multiple: true,
        valueName: 'FORMAT',
        choices: ['long', 'short'],
        summary: `the report's [own]: format`,
      },
      output: { type: 'string', valueName: 'FILE', summary: 'the file to write' },
      quiet: { type: 'boolean', summary: 'print nothing' },
    },
  },
  { name: 'select', summary: 'select a theme', options: {}, choices: ['dark', 'dawn'] },
];

describe('completion', () => {
  it.each(NAMES)('generates a %s script for the verbs and their options', (shell) => {
    const script = SHELLS[shell](VERBS);
    const golden = new URL(`cases/${shell}.out`, import.meta.url);
    if (UPDATE) writeFileSync(golden, script);
    expect(script).toBe(readFileSync(golden, 'utf8'));
  });

  it.each(NAMES.filter(isInstalled))('generates a script that %s parses', (shell) => {
    const file = join(temporaryFolder('completion', { script: SHELLS[shell](VERBS) }), 'script');
    execFileSync(shell, ['-n', file], { stdio: 'pipe' });
  });

  it.each([
    [[''], 'serve show select --help --version'],
    [['sh'], 'show'],
    [['show', ''], ''],
    [['show', '-'], '-f --format --output --quiet --help'],
    [['show', '-f', 's'], 'short'],
    [['show', '--format', '=', 'l'], 'long'],
    [['show', '--format', '='], 'long short'],
    [['show', '--output', ''], ''],
    [['select', 'da'], 'dark dawn'],
    [['select', 'dark', 'da'], ''],
    [['serve', '--'], '--help'],
    [['other', ''], ''],
  ])('completes %j in bash with: %s', (words, expected) => {
    const call = `${SHELLS.bash(VERBS)}COMP_WORDS=(signing-gateway "$@"); COMP_CWORD=$#; _signing_gateway; echo "\${COMPREPLY[*]}"`;
    expect(execFileSync('bash', ['-c', call, 'bash', ...words], { encoding: 'utf8' })).toBe(`${expected}\n`);
  });

  it.skipIf(!isInstalled('fish')).each([
    ['', 'select\tselect a theme\nserve\tserve the user\'s "files": at $HOME \\ [here]\nshow\tshow a file\n'],
    ['show --q', '--quiet\tprint nothing\n'],
    ['show -f s', `short\tthe report's [own]: format\n`],
    ['select daw', 'dawn\n'],
  ])('completes "%s" in fish with: %s', (words, expected) => {
    const call = `${SHELLS.fish(VERBS)}complete -C ${JSON.stringify(`signing-gateway ${words}`)}`;
    expect(execFileSync('fish', ['-c', call], { encoding: 'utf8' })).toBe(expected);
  });

  it('completes every verb, option value and argument of the command line', async () => {
    const { out } = await runCli(['--help'], tmpdir());
    const verbs = [...out.matchAll(/^ {2}(\w+) {2,}\S/gm)].map(([, name]) => name);
    const { code, out: script } = await runCli(['completion', 'bash'], tmpdir());
    expect([code, script]).toEqual([0, expect.stringContaining(`words='${verbs.join(' ')} --help --version'`)]);
    expect(script).toContain("'lint -f' | 'lint --format') words='pretty stylish json ");
    expect(script).toContain("completion) options='--help' ; ((COMP_CWORD == 2)) && words='bash zsh fish' ;;");
    expect(script).toContain("&& words='GET POST PUT PATCH DELETE HEAD OPTIONS' ;;");
    expect(script).toMatch(/'lint --explain'\) words='[^']* route-unreachable [^']*' ;;/);
  });

  it.each([
    [[], 'name one shell: bash, zsh, fish'],
    [['bash', 'zsh'], 'name one shell: bash, zsh, fish'],
    [['bsh'], 'unknown shell "bsh"; did you mean "bash"?'],
  ])('rejects the arguments %j', async (words, message) => {
    const { code, out, err } = await runCli(['completion', ...words], tmpdir());
    expect([code, out, err.split('\n')[0]]).toEqual([2, '', `signing-gateway: ${message}`]);
  });
});

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CompletionVerb } from '../../../src/cli/completion/completion-script.ts';
import { SHELLS } from '../../../src/cli/completion/shells.ts';
import { runCli } from '../../support/cli.ts';

const UPDATE = process.env['UPDATE_GOLDEN'] === '1';
const NAMES = Object.keys(SHELLS) as (keyof typeof SHELLS)[];
const isHere = (shell: string) => spawnSync(shell, ['-c', ':']).status === 0;

const VERBS: readonly CompletionVerb[] = [
  { name: 'serve', summary: `it's served: "all" of it, at $HOME \\ [here]`, options: {} },
  {
    name: 'look',
    summary: 'look at it',
    options: {
      format: {
        type: 'string',
        short: 'f',
        multiple: true,
        valueName: 'FORMAT',
        choices: ['long', 'short'],
        summary: `one's [own]: form`,
      },
      output: { type: 'string', valueName: 'FILE', summary: 'where it goes' },
      quiet: { type: 'boolean', summary: 'say nothing' },
    },
  },
  { name: 'choose', summary: 'choose one', options: {}, choices: ['this', 'that'] },
];

describe('completion', () => {
  it.each(NAMES)('is made for %s of the verbs and their options', (shell) => {
    const script = SHELLS[shell](VERBS);
    const golden = new URL(`cases/${shell}.out`, import.meta.url);
    if (UPDATE) writeFileSync(golden, script);
    expect(script).toBe(readFileSync(golden, 'utf8'));
  });

  it.each(NAMES.filter(isHere))('%s can read it', (shell) => {
    const file = join(mkdtempSync(join(tmpdir(), 'completion-')), 'script');
    writeFileSync(file, SHELLS[shell](VERBS));
    execFileSync(shell, ['-n', file], { stdio: 'pipe' });
  });

  it.each([
    [[''], 'serve look choose --help --version'],
    [['l'], 'look'],
    [['look', ''], ''],
    [['look', '-'], '-f --format --output --quiet --help'],
    [['look', '-f', 's'], 'short'],
    [['look', '--format', '=', 'l'], 'long'],
    [['look', '--format', '='], 'long short'],
    [['look', '--output', ''], ''],
    [['choose', 'th'], 'this that'],
    [['serve', '--'], '--help'],
    [['other', ''], ''],
  ])('bash offers for %j: %s', (words, offered) => {
    const call = `${SHELLS.bash(VERBS)}COMP_WORDS=(signing-gateway "$@"); COMP_CWORD=$#; _signing_gateway; echo "\${COMPREPLY[*]}"`;
    expect(execFileSync('bash', ['-c', call, 'bash', ...words], { encoding: 'utf8' })).toBe(`${offered}\n`);
  });

  it.skipIf(!isHere('fish')).each([
    ['', 'choose\tchoose one\nlook\tlook at it\nserve\tit\'s served: "all" of it, at $HOME \\ [here]\n'],
    ['look --q', '--quiet\tsay nothing\n'],
    ['look -f s', `short\tone's [own]: form\n`],
    ['choose tha', 'that\n'],
  ])('fish offers for "%s": %s', (words, offered) => {
    const call = `${SHELLS.fish(VERBS)}complete -C ${JSON.stringify(`signing-gateway ${words}`)}`;
    expect(execFileSync('fish', ['-c', call], { encoding: 'utf8' })).toBe(offered);
  });

  it('knows every verb of the command', async () => {
    const { out } = await runCli(['--help'], tmpdir());
    const verbs = [...out.matchAll(/^ {2}(\w+) {2,}\S/gm)].map(([, name]) => name);
    const { code, out: script } = await runCli(['completion', 'bash'], tmpdir());
    expect([code, script]).toEqual([0, expect.stringContaining(`words='${verbs.join(' ')} --help --version'`)]);
    expect(script).toContain("'lint -f' | 'lint --format') words='pretty stylish json ");
  });

  it.each([
    [[], 'name a shell: bash, zsh, fish'],
    [['bsh'], 'there is no shell "bsh"; did you mean "bash"?'],
  ])('refuses %j', async (words, message) => {
    const { code, out, err } = await runCli(['completion', ...words], tmpdir());
    expect([code, out, err.split('\n')[0]]).toEqual([2, '', `signing-gateway: ${message}`]);
  });
});

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SHELLS } from '../../../src/cli/completion/completion.ts';
import type { CompletionVerb } from '../../../src/cli/completion/scripts.ts';
import { runCli } from '../../support/cli.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const UPDATE = process.env['UPDATE_GOLDEN'] === '1';
/** Prints its arguments without "completion --words", and two roles, in place of the command. */
const COMMAND = 'signing-gateway() { printf "of %s\\n" "${*:3}"; printf "admin\\ndata clerk\\n"; }\n';
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
  {
    name: 'trace',
    summary: 'trace a request',
    options: {
      role: { type: 'string', valueName: 'ROLE', manifestWords: 'roles', summary: 'a role' },
      header: {
        type: 'string',
        short: 'H',
        valueName: "'NAME: VALUE'",
        starts: ['Accept:', 'Age:'],
        summary: 'a header',
      },
    },
  },
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
    [[''], 'serve show select trace --help --version'],
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
    [['trace', '--header', ''], 'Accept: Age:'],
    [['trace', '-H', 'Ac'], 'Accept:'],
    [['trace', '--role', ''], 'of\\ roles admin data\\ clerk'],
    [['trace', '--role', '=', 'ad'], 'admin'],
    [['trace', '--role', 'x'], ''],
    [['trace', '-c', 'my gateway.yaml', '--role', 'of'], 'of\\ roles\\ my\\ gateway.yaml'],
  ])('completes %j in bash with: %s', (words, expected) => {
    const call = `${COMMAND}${SHELLS.bash(VERBS)}COMP_WORDS=(signing-gateway "$@"); COMP_CWORD=$#; _signing_gateway; echo "\${COMPREPLY[*]}"`;
    expect(execFileSync('bash', ['-c', call, 'bash', ...words], { encoding: 'utf8' })).toBe(`${expected}\n`);
  });

  it.skipIf(!isInstalled('fish')).each([
    [
      '',
      'select\tselect a theme\nserve\tserve the user\'s "files": at $HOME \\ [here]\nshow\tshow a file\ntrace\ttrace a request\n',
    ],
    ['show --q', '--quiet\tprint nothing\n'],
    ['show -f s', `short\tthe report's [own]: format\n`],
    ['select daw', 'dawn\n'],
    ['trace --header Ac', 'Accept:\ta header\n'],
    ['trace a.yaml --role of', 'of roles a.yaml\ta role\n'],
  ])('completes "%s" in fish with: %s', (words, expected) => {
    const command = 'function signing-gateway; echo of $argv[3..]; end\n';
    const call = `${command}${SHELLS.fish(VERBS)}complete -C ${JSON.stringify(`signing-gateway ${words}`)}`;
    expect(execFileSync('fish', ['-c', call], { encoding: 'utf8' })).toBe(expected);
  });

  it('completes every verb, option value and argument of the command line', async () => {
    const { out } = await runCli(['--help'], tmpdir());
    const verbs = [...out.matchAll(/^ {2}(\w+) {2,}\S/gm)].map(([, name]) => name);
    const { code, out: script } = await runCli(['completion', 'bash'], tmpdir());
    expect([code, script]).toEqual([0, expect.stringContaining(`words='${verbs.join(' ')} --help --version'`)]);
    expect(script).toContain("'lint -f' | 'lint --format') words='pretty stylish json ");
    expect(script).toContain("completion) options='--words --help' ; ((COMP_CWORD == 2)) && words='bash zsh fish' ;;");
    expect(script).toContain("&& words='GET POST PUT PATCH DELETE HEAD OPTIONS' ;;");
    expect(script).toMatch(/'lint --explain'\) words='[^']* route-unreachable [^']*' ;;/);
  });

  describe('--words', () => {
    const TOKENS = 'tokens: { jwt: { jwks: http://127.0.0.1:9/, algorithms: [ES256], issuer: a, audience: b } }';
    const MANIFEST = `version: 1
upstreams: { up: { url: http://127.0.0.1:9 } }
auth:
  ${TOKENS}
  role: { claim: /company/role, allow: [admin, data clerk, '\${ROLE}'], message: m }
routes:
  - { id: a, method: GET, path: /a, upstream: up, access: protected }
  - { id: b, method: GET, path: /b, upstream: up, access: protected, roles: [admin] }
`;
    const words = (file: string, ...args: string[]) =>
      runCli(['completion', '--words', ...args], temporaryFolder('words', { [file]: MANIFEST }), {
        ROLE: 'secret-role',
      });

    it('prints the roles that routes allow, without those from the environment', async () => {
      expect(await words('gateway.yaml', 'roles')).toEqual({ code: 0, out: 'admin\ndata clerk\n', err: '' });
    });

    it('prints the claims of each role, as `explain --claims` takes them', async () => {
      const { out } = await words('other.yaml', 'claims', 'other.yaml');
      expect(out).toBe('{"company":{"role":"admin"}}\n{"company":{"role":"data clerk"}}\n');
    });

    it('prints nothing without roles, and fails without a valid manifest', async () => {
      const folder = temporaryFolder('words', {
        'a.yaml': MANIFEST.replace(/auth:[\s\S]*routes:/, 'routes:')
          .replaceAll('protected', 'public')
          .replace(', roles: [admin]', ''),
        'b.yaml': 'version: 2',
      });
      const run = (...args: string[]) => runCli(['completion', '--words', ...args], folder);
      expect(await run('claims', 'a.yaml')).toEqual({ code: 0, out: '', err: '' });
      expect(await run('roles', 'b.yaml')).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringContaining('b.yaml has errors'),
      });
      expect(await run('roles', 'c.yaml')).toMatchObject({
        code: 2,
        err: expect.stringContaining('c.yaml: no such file'),
      });
      expect(await run('role')).toMatchObject({ code: 2, err: expect.stringContaining('did you mean "roles"?') });
    });
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

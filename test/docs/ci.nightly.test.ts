import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { LINT_FORMATS } from '../../src/cli/lint/lint-formats.ts';
import { MAIN, runCli } from '../support/cli.ts';
import { IS_DEEP } from '../support/runs.ts';
import { expectSection } from '../support/section.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/ci.md'), 'utf8');
const read = (file: string) => parse(readFileSync(join(root, file), 'utf8'));
const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Returns the YAML below a heading of the page. */
function exampleBelow(heading: string) {
  const [, text = ''] = page.split(`## ${heading}\n`)[1]?.match(/^```yaml\n([\s\S]*?)^```$/m) ?? [];
  return parse(text);
}

/** Writes executable commands, by name, to a folder. */
function binaries(commands: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder('bin');
  for (const [name, script] of Object.entries(commands)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

const GATEWAY = `exec '${process.execPath}' '${MAIN}' "$@"`;
/** Stubs: npx ignores its first argument, and npm installs nothing. */
const BIN = binaries({ 'signing-gateway': GATEWAY, npx: `shift; ${GATEWAY}`, npm: 'test "$1" = ci' });

/** Returns a search path on which this command comes first. */
const withCommand = (name: string, script: string) =>
  [binaries({ [name]: script }), process.env['PATH']].join(delimiter);

/** Runs a script like a CI runner, which stops at the first command that fails. */
function runScript(script: string, cwd: string, env: NodeJS.ProcessEnv = {}) {
  const path = [BIN, process.env['PATH']].join(delimiter);
  const { status, stdout, stderr } = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
    cwd,
    env: { HOME: cwd, PATH: path, ...env },
    encoding: 'utf8',
  });
  return { code: status, out: stdout, err: stderr };
}

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a.example', '-c', 'init.defaultBranch=main', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();

/** Creates a repository with a manifest and its tests in the first commit, and an uncommitted change of the manifest. */
async function repository(change: (text: string) => string) {
  const folder = temporaryFolder('ci');
  await runCli(['init'], folder);
  git(folder, 'init', '--quiet');
  git(folder, 'add', '.');
  git(folder, 'commit', '--quiet', '-m', 'first');
  const file = join(folder, 'gateway.yaml');
  writeFileSync(file, change(readFileSync(file, 'utf8')));
  return { folder, base: git(folder, 'rev-parse', 'HEAD') };
}

const makePublic = (text: string) => text.replace('access: protected', 'access: public');
const breakUpstream = (text: string) => text.replace('upstream: api\n', 'upstream: app\n');

/** A folder that looks as the installed action does, with the packages and the Node version of this checkout. */
function installedAction(): string {
  const folder = temporaryFolder('action', { '.node/node_modules/.bin/empty': '' });
  for (const name of ['src', 'schema', 'docs', 'package.json', 'package-lock.json', 'node_modules'])
    symlinkSync(join(root, name), join(folder, name));
  symlinkSync(process.execPath, join(folder, '.node/node_modules/.bin/node'));
  return folder;
}

describe('action.yml', () => {
  interface Step {
    readonly id?: string;
    readonly name: string;
    readonly if?: string;
    readonly uses?: string;
    readonly with?: Readonly<Record<string, string>>;
    readonly shell?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly run?: string;
  }
  const action = read('action.yml');
  const steps: readonly Step[] = action.runs.steps;
  const installed = installedAction();

  interface ActionOptions {
    readonly inputs?: Readonly<Record<string, string>>;
    /** The folder of the action. */
    readonly path?: string;
    /** True if the cache has the installation. */
    readonly isCached?: boolean;
    readonly env?: NodeJS.ProcessEnv;
  }

  /** Runs the steps of the action in a checkout of a repository, as a runner of GitHub Actions does. */
  function runAction(folder: string, base: string, options: ActionOptions = {}) {
    const { inputs = {}, path = installed, isCached = true, env: extraEnv = {} } = options;
    const temp = temporaryFolder('runner');
    const files = { GITHUB_OUTPUT: join(temp, 'output'), GITHUB_STEP_SUMMARY: join(temp, 'summary') };
    for (const file of Object.values(files)) appendFileSync(file, '');
    const context: Record<string, string> = {
      'github.event.pull_request.base.sha': base,
      'github.action_path': path,
      'runner.os': 'Linux',
      'runner.arch': 'X64',
    };
    const fill = (text: string) => text.replaceAll(/\$\{\{ (.*?) \}\}/g, (_all, name) => contextValue(name));
    const contextValue = (name: string) => {
      const value = context[name];
      if (value === undefined) throw new Error(`unknown expression ${name}`);
      return value;
    };
    /** Evaluates a condition: comparisons joined by `&&`. A failure skips each step without a status function. */
    const isRun = (condition: string | undefined, hasFailed: boolean) => {
      const terms = condition === undefined ? [] : condition.replace(/^\$\{\{ (.*) \}\}$/, '$1').split(' && ');
      if (hasFailed && !terms.includes('!cancelled()')) return false;
      return terms.every((term) => {
        const [, name = '', text] = /^([\w.-]+) != '(\w*)'$/.exec(term) ?? [];
        return term === '!cancelled()' || contextValue(name) !== text;
      });
    };
    for (const [name, { default: fallback }] of Object.entries<{ default: string }>(action.inputs))
      context[`inputs.${name}`] = inputs[name] ?? fill(fallback);
    const results: Record<string, ReturnType<typeof runScript>> = {};
    let outputs = '';
    for (const { id, name, if: condition, uses, with: parameters = {}, env = {}, run = '' } of steps) {
      const hasFailed = Object.values(results).some(({ code }) => code !== 0);
      const isSkipped = !isRun(condition, hasFailed);
      context[`steps.${id}.outcome`] = isSkipped ? 'skipped' : 'success';
      if (isSkipped) continue;
      if (uses !== undefined) {
        expect([uses, Object.keys(parameters)]).toEqual(['actions/cache@v4', ['key', 'path']]);
        cached = Object.fromEntries(Object.entries(parameters).map(([key, value]) => [key, fill(value)]));
        context[`steps.${id}.outputs.cache-hit`] = isCached ? 'true' : '';
        continue;
      }
      const filledEnv = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, fill(value)]));
      const allEnv = { ...files, RUNNER_TEMP: temp, GITHUB_ACTION_PATH: path, ...filledEnv, ...extraEnv };
      results[name] = runScript(run, folder, allEnv);
      outputs = readFileSync(files.GITHUB_OUTPUT, 'utf8');
      for (const [, key = '', value = ''] of outputs.matchAll(/^([\w-]+)=(.*)$/gm))
        context[`steps.${id}.outputs.${key}`] ??= value;
    }
    return {
      output: outputs.replace(/^hash=.*\n/, ''),
      summary: readFileSync(files.GITHUB_STEP_SUMMARY, 'utf8'),
      install: results['Install signing-gateway'],
      lint: results['Lint the manifest'],
      diff: results['Compare the manifest with the base'],
      proof: results['Prove the change of the manifest'],
      drift: results['Compare the manifest with the OpenAPI document'],
      replay: results['Replay the access logs'],
    };
  }

  /** The parameters of the cache in the last run. */
  let cached: Readonly<Record<string, string>> = {};

  it('inserts no input into a script', () => {
    const scripts = steps.filter(({ uses }) => uses === undefined);
    expect(scripts.map(({ shell }) => shell)).toEqual(scripts.map(() => 'bash'));
    for (const { run } of scripts) expect(run).not.toContain('${{');
  });

  it('installs nothing if the cache has the packages of the same lock file', async () => {
    const { folder } = await repository((text) => text);
    expect(runAction(folder, '')).toMatchObject({ install: undefined, lint: { code: 0 } });
    expect(cached['path']).toBe(`${installed}/node_modules\n${installed}/.node\n`);
    const hash = git(root, 'hash-object', 'package-lock.json');
    expect(cached['key']).toBe(`signing-gateway-Linux-X64-${hash}`);
  });

  it('installs only what it needs to run, and ends with the error of a failed installation', async () => {
    const { folder, base } = await repository((text) => text);
    const calls = join(temporaryFolder('calls'), 'npm');
    const npm = `echo "$@" >> '${calls}'; test "$1" != pkg || echo '"26.1.2"'`;
    const working = runAction(folder, base, { isCached: false, env: { PATH: withCommand('npm', npm) } });
    expect([working.install?.code, working.lint?.code, working.diff?.code]).toEqual([0, 0, 0]);
    expect(readFileSync(calls, 'utf8')).toBe(`ci --omit=dev --ignore-scripts --loglevel=error
pkg get devDependencies.node
install --prefix .node --no-save --loglevel=error node@26.1.2
`);
    const broken = "echo 'npm error ETIMEDOUT' >&2; exit 1";
    const failing = runAction(folder, base, { isCached: false, env: { PATH: withCommand('npm', broken) } });
    expect(failing).toMatchObject({
      install: { code: 1, err: 'npm error ETIMEDOUT\n' },
      lint: undefined,
      diff: undefined,
    });
  });

  // Installs the packages from a registry, which takes half a minute.
  it.runIf(IS_DEEP)('runs in a checkout without packages', async () => {
    const path = temporaryFolder('action');
    for (const name of git(root, 'ls-files').split('\n'))
      cpSync(join(root, name), join(path, name), { recursive: true });
    const { folder } = await repository(breakUpstream);
    // A machine may reach its package registry only with the settings in its environment.
    const env = process.env;
    const { install, lint } = runAction(folder, '', { path, isCached: false, env });
    expect(install, install?.err).toMatchObject({ code: 0 });
    expect(lint).toMatchObject({ code: 1, out: expect.stringMatching(/^::error file=gateway\.yaml/) });
    expect(existsSync(join(path, 'node_modules/typescript'))).toBe(false);
    const again = runAction(folder, '', { path, env });
    expect([again.install, again.lint?.out]).toEqual([undefined, lint?.out]);
  });

  it('writes annotations, SARIF and a summary of the problems', async () => {
    const { folder } = await repository(breakUpstream);
    const { lint, diff, output, summary } = runAction(folder, '');
    expect([lint?.code, diff]).toEqual([1, undefined]);
    expect(lint?.out).toMatch(/^::error file=gateway\.yaml,line=\d+,.*title=upstream-unknown::/);
    expect(output).toBe('sarif=gateway-lint.sarif\n');
    expect(action.outputs.sarif.value).toBe('${{ steps.lint.outputs.sarif }}');
    expect(JSON.parse(readFileSync(join(folder, 'gateway-lint.sarif'), 'utf8')).runs[0].results.length).toBeGreaterThan(
      0,
    );
    expect(summary).toMatch(/^### Manifest: 1 error in gateway\.yaml\n\n\| location /);
  });

  it('writes the effects of a change to the summary', async () => {
    const { folder, base } = await repository(makePublic);
    const { lint, diff, summary } = runAction(folder, base);
    expect([lint?.code, diff?.code]).toEqual([0, 0]);
    expect(summary).toContain('gateway.yaml');
    expect(summary.split('\n###')[1]).toMatch(/public/);
    expect(runAction(folder, base, { inputs: { 'diff-fail-on': 'error' } }).diff?.code).toBe(1);
    expect(runAction(folder, base, { inputs: { base: '' } }).diff).toBeUndefined();
  });

  it('writes the lines of the access matrix that change to the summary, and to a file for a comment', async () => {
    const { folder, base } = await repository((text) => text.replace('path: /status', 'path: /health'));
    const { output, summary } = runAction(folder, base);
    const [, file = ''] = /^access=(.*)$/m.exec(output) ?? [];
    const text = readFileSync(file, 'utf8');
    expect(text.split('\n').filter((line) => /^(?:#|\| (?:old|new))/.test(line))).toEqual([
      '### Access: 2 changed lines in `gateway.yaml`',
      expect.stringMatching(/^\| old \| GET,HEAD \| `\/status` \| public \|/),
      expect.stringMatching(/^\| new \| GET,HEAD \| `\/health` \| public \|/),
    ]);
    expect(summary.endsWith(`\n${text}`)).toBe(true);
    expect(action.outputs.access.value).toBe('${{ steps.access.outputs.access }}');
    const invalid = await repository(breakUpstream);
    expect(runAction(invalid.folder, invalid.base).output).toBe('sarif=gateway-lint.sarif\n');
  });

  it('proves a change, allows the accesses that are meant, and fails without a proof', async () => {
    const added = '  - { id: extra, method: GET, path: /extra, upstream: api, access: protected }\n';
    const { folder, base } = await repository((text) => text.replace(/^routes:\n/m, `$&${added}`));
    const run = (inputs: Readonly<Record<string, string>>) => runAction(folder, base, { inputs });
    const { proof, summary } = run({ prove: 'no-new-access' });
    expect([proof?.code, summary]).toEqual([1, expect.stringContaining('no-new-access: does not hold')]);
    writeFileSync(join(folder, 'meant.yaml'), '- { when: { path: /extra }, why: one more page }\n');
    const allowed = run({ prove: 'no-new-access', allow: 'meant.yaml' });
    expect([allowed.proof?.code, allowed.summary]).toEqual([
      0,
      expect.stringContaining('opens exactly: one more page'),
    ]);
    expect(run({}).proof).toBeUndefined();
    const wrong = run({ prove: 'nothing' });
    expect([wrong.proof?.code, wrong.proof?.out]).toEqual([2, expect.stringMatching(/^::error title=/)]);
  });

  it('fetches a base that the checkout does not contain', async () => {
    const { folder, base } = await repository(makePublic);
    git(folder, 'commit', '--quiet', '-am', 'second');
    const shallow = temporaryFolder('ci');
    git(shallow, 'clone', '--quiet', '--depth=1', `file://${folder}`, '.');
    expect(() => git(shallow, 'cat-file', '-e', base)).toThrow();
    const { diff, summary } = runAction(shallow, base);
    expect(diff?.code).toBe(0);
    expect(summary.split('\n###')[1]).toMatch(/public/);
  });

  it('reports a new manifest, and warns about a base that does not load', async () => {
    const { folder, base } = await repository((text) => text);
    writeFileSync(join(folder, 'other.yaml'), readFileSync(join(folder, 'gateway.yaml')));
    const { diff, summary } = runAction(folder, base, { inputs: { manifest: 'other.yaml' } });
    expect([diff?.code, summary]).toEqual([0, expect.stringContaining('`other.yaml` is new')]);

    const second = await repository(breakUpstream);
    git(second.folder, 'commit', '--quiet', '-am', 'second');
    const invalidBase = git(second.folder, 'rev-parse', 'HEAD');
    writeFileSync(join(second.folder, 'gateway.yaml'), readFileSync(join(folder, 'gateway.yaml')));
    const again = runAction(second.folder, invalidBase);
    expect([again.lint?.code, again.diff?.code, again.diff?.out]).toEqual([
      0,
      0,
      expect.stringMatching(/^::warning title=/),
    ]);
  });

  it('compares an OpenAPI document, and fails for one that cannot be read', async () => {
    const { folder } = await repository((text) => text);
    const { out } = await runCli(['openapi'], folder);
    writeFileSync(join(folder, 'notes.json'), out);
    const same = runAction(folder, '', { inputs: { openapi: 'notes.json' } });
    expect(same.drift?.code).toBe(0);
    expect(same.summary).toContain('`notes.json` → `gateway.yaml`: no differences');

    const inputs = { openapi: 'notes.json', 'openapi-prefix': '/other' };
    const moved = runAction(folder, '', { inputs });
    expect([moved.drift?.code, moved.summary]).toEqual([0, expect.stringContaining('(route-removed)')]);
    expect(runAction(folder, '', { inputs: { ...inputs, 'drift-fail-on': 'warning' } }).drift?.code).toBe(1);
    expect(runAction(folder, '').drift).toBeUndefined();
    const missing = runAction(folder, '', { inputs: { openapi: 'none.yaml', 'drift-fail-on': 'error' } });
    expect([missing.drift?.code, missing.drift?.out]).toEqual([2, expect.stringMatching(/^::error title=/)]);
    expect(missing.summary).not.toContain('none.yaml');
  });

  it('replays access logs, and writes the changes below the effects', async () => {
    const { folder, base } = await repository(makePublic);
    const { routes } = parse(readFileSync(join(folder, 'gateway.yaml'), 'utf8'));
    const { id, upstream } = routes[0];
    const refused = { status: 401, refusal: 'token_missing', reason: 'token_missing', credential: 'none' };
    const request = {
      level: 30,
      time: 1,
      msg: 'request',
      method: 'GET',
      path: '/hello',
      manifest: 'a',
      query: [],
      peer: null,
    };
    mkdirSync(join(folder, 'logs of hosts'));
    const log = `${JSON.stringify({ ...request, route: id, upstream, ...refused })}\n`;
    for (const host of ['one', 'two']) writeFileSync(join(folder, `logs of hosts/${host}.log`), log);
    const inputs = { 'replay-log': 'none.log*\nlogs of hosts/*.log' };
    const { replay, summary } = runAction(folder, base, { inputs });
    expect(replay).toMatchObject({ code: 0 });
    expect(summary).toMatch(/\n### [^\n]* 1 error[\s\S]*\n### Replay of 2 requests: /);
    const failing = runAction(folder, base, { inputs: { ...inputs, 'replay-fail-on': 'changed,unknown>0%' } });
    expect(failing.replay?.code).toBe(1);
    expect(runAction(folder, base).replay).toBeUndefined();
    const missing = runAction(folder, base, { inputs: { 'replay-log': 'none*.log' } }).replay;
    expect([missing?.code, missing?.out]).toEqual([2, expect.stringMatching(/^::error title=.*no file matches/)]);
  });

  it('fails without an output for a missing manifest or an invalid input', async () => {
    const { folder } = await repository((text) => text);
    for (const inputs of [{ manifest: 'none.yaml' }, { manifest: '--fix' }, { 'fail-on': 'nothing' }]) {
      const { lint, output } = runAction(folder, '', { inputs });
      expect([lint?.code, output], JSON.stringify(inputs)).toEqual([2, '']);
    }
  });

  it('is documented with its inputs and outputs', () => {
    const [, used, upload, comment] = exampleBelow('GitHub Actions').jobs.manifest.steps;
    expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(used.with)));
    expect(upload.with.sarif_file).toBe(`\${{ steps.${used.id}.outputs.${Object.keys(action.outputs)[0]} }}`);
    expect(comment.env.ACCESS).toBe(`\${{ steps.${used.id}.outputs.${Object.keys(action.outputs)[1]} }}`);
    const rows = Object.entries<{ description: string; default: string }>(action.inputs).map(
      ([name, input]) => `| \`${name}\` | \`${input.default}\` | ${input.description} |`,
    );
    const head = ['| input | default | description |', '|---|---|---|'];
    expectSection('docs/ci.md', 'inputs', `${[...head, ...rows].join('\n')}\n`);
  });
});

describe('.pre-commit-hooks.yaml', () => {
  interface Hook {
    readonly id: string;
    readonly entry: string;
    readonly language: string;
    readonly language_version: string;
    readonly files: string;
    readonly pass_filenames?: boolean;
  }
  const hooks: readonly Hook[] = read('.pre-commit-hooks.yaml');
  const NAMES = ['gateway.yaml', 'deploy/gateway.yml', 'gateway.test.yaml', 'my-gateway.yaml', 'gateway.yaml.orig'];

  it.each(hooks.map((hook) => [hook.id, hook] as const))(
    '%s runs with a supported version of Node',
    async (_id, hook) => {
      expect(Number.parseInt(hook.language_version, 10)).toBeGreaterThanOrEqual(Number(engines.node.replace('>=', '')));
      expect(hook.language).toBe('node');
      const example = exampleBelow('pre-commit').repos[0].hooks.find(({ id }: { id: string }) => id === hook.id);
      const { folder } = await repository((text) => text);
      mkdirSync(join(folder, 'deploy'));
      writeFileSync(join(folder, 'deploy/gateway.yml'), readFileSync(join(folder, 'gateway.yaml')));
      const names = NAMES.filter((name) => new RegExp(hook.files).test(name));
      const args = [...(example.args ?? []), ...(hook.pass_filenames === false ? [] : names)];
      expect(runScript(`${hook.entry} ${args.join(' ')}`, folder)).toMatchObject({ code: 0 });
    },
  );

  it('relies on an npm that prints only the name of the package', () => {
    expect(readFileSync(join(root, '.npmrc'), 'utf8')).toMatch(/^foreground-scripts=false$/m);
  });

  it.each([
    ['gateway-lint', ['gateway.yaml', 'deploy/gateway.yml']],
    ['gateway-fmt', ['gateway.yaml', 'deploy/gateway.yml', 'gateway.test.yaml']],
    ['gateway-test', ['gateway.yaml', 'deploy/gateway.yml', 'gateway.test.yaml']],
  ])('%s matches %j', (id, names) => {
    const files = new RegExp(hooks.find((hook) => hook.id === id)?.files ?? '');
    expect(NAMES.filter((name) => files.test(name))).toEqual(names);
  });
});

describe('docs/ci.md', () => {
  const { gateway, 'gateway-diff': diff } = exampleBelow('GitLab CI/CD');
  const script = (lines: readonly string[]) => lines.join('\n');

  it('shows a GitLab job that runs and writes its reports', async () => {
    const { folder } = await repository((text) => text);
    expect(runScript(script(gateway.script), folder)).toMatchObject({ code: 0 });
    const { codequality, junit } = gateway.artifacts.reports;
    expect(JSON.parse(readFileSync(join(folder, codequality), 'utf8'))).toBeInstanceOf(Array);
    for (const file of junit) expect(readFileSync(join(folder, file), 'utf8')).toMatch(/^<\?xml .*\?>\n<testsuites /);
    const failing = await repository(breakUpstream);
    expect(runScript(script(gateway.script), failing.folder).code).toBe(1);
    expect(JSON.parse(readFileSync(join(failing.folder, codequality), 'utf8'))).toHaveLength(1);
  });

  it('shows a GitLab job that fails for a change with an error', async () => {
    const { folder, base } = await repository(makePublic);
    const clone = temporaryFolder('ci');
    git(clone, 'clone', '--quiet', `file://${folder}`, '.');
    const env = { CI_MERGE_REQUEST_DIFF_BASE_SHA: base };
    expect(runScript(script(diff.script), clone, env)).toMatchObject({ code: 0 });
    writeFileSync(join(clone, 'gateway.yaml'), readFileSync(join(folder, 'gateway.yaml')));
    expect(runScript(script(diff.script), clone, env)).toMatchObject({
      code: 1,
      out: expect.stringContaining('public'),
    });
    expect(diff.rules).toEqual([{ if: '$CI_MERGE_REQUEST_DIFF_BASE_SHA' }]);
  });

  it('shows a command that runs, and every format', async () => {
    const { folder } = await repository((text) => text);
    const [, command = ''] = /^```sh\n([\s\S]*?)^```$/m.exec(page) ?? [];
    expect(runScript(command, folder)).toMatchObject({ code: 0, out: '### Manifest: no problems in gateway.yaml\n' });
    const rows = [...page.matchAll(/^\| `(\w+)` \| [a-zA-Z]/gm)].map(([, name]) => name);
    expect(rows).toEqual(Object.keys(LINT_FORMATS));
  });
});

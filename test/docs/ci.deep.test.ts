import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { REPORTERS } from '../../src/cli/lint/reporters/reporters.ts';
import { MAIN, runCli } from '../support/cli.ts';
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

/** Runs a script like a CI runner, which stops at the first command that fails. */
function runScript(script: string, cwd: string, env: Record<string, string> = {}) {
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

describe('action.yml', () => {
  interface Step {
    readonly id?: string;
    readonly name: string;
    readonly if?: string;
    readonly shell: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly run: string;
  }
  const action = read('action.yml');
  const steps: readonly Step[] = action.runs.steps;

  /** Runs the steps of the action in a checkout of a repository. */
  function runAction(folder: string, base: string, inputs: Readonly<Record<string, string>> = {}) {
    const temp = temporaryFolder('runner');
    const files = { GITHUB_OUTPUT: join(temp, 'output'), GITHUB_STEP_SUMMARY: join(temp, 'summary') };
    for (const file of Object.values(files)) appendFileSync(file, '');
    const expressions: Record<string, string> = { 'github.event.pull_request.base.sha': base };
    const fill = (text: string) =>
      text.replaceAll(/\$\{\{ (.*?) \}\}/g, (_all, name) => {
        if (expressions[name] === undefined) throw new Error(`unknown expression ${name}`);
        return expressions[name];
      });
    for (const [name, { default: fallback }] of Object.entries<{ default: string }>(action.inputs))
      expressions[`inputs.${name}`] = inputs[name] ?? fill(fallback);
    const results: Record<string, ReturnType<typeof runScript>> = {};
    for (const { name, if: condition, env = {}, run } of steps) {
      if (condition !== undefined && expressions['inputs.base'] === '') continue;
      const filledEnv = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, fill(value)]));
      results[name] = runScript(run, folder, { ...files, RUNNER_TEMP: temp, GITHUB_ACTION_PATH: root, ...filledEnv });
    }
    return {
      output: readFileSync(files.GITHUB_OUTPUT, 'utf8'),
      summary: readFileSync(files.GITHUB_STEP_SUMMARY, 'utf8'),
      install: results['Install signing-gateway'],
      lint: results['Lint the manifest'],
      diff: results['Compare the manifest with the base'],
    };
  }

  it('inserts no input into a script', () => {
    expect(steps.map(({ shell }) => shell)).toEqual(['bash', 'bash', 'bash']);
    for (const { run } of steps) expect(run).not.toContain('${{');
    expect(steps.map((step) => step.if)).toEqual([undefined, undefined, "${{ !cancelled() && inputs.base != '' }}"]);
  });

  it('writes annotations, SARIF and a summary of the problems', async () => {
    const { folder } = await repository(breakUpstream);
    const { install, lint, diff, output, summary } = runAction(folder, '');
    expect([install?.code, lint?.code, diff]).toEqual([0, 1, undefined]);
    expect(lint?.out).toMatch(/^::error file=gateway\.yaml,line=\d+,.*title=upstream-unknown::/);
    expect(output).toBe('sarif=gateway-lint.sarif\n');
    expect(action.outputs.sarif.value).toBe('${{ steps.lint.outputs.sarif }}');
    expect(steps[1]?.id).toBe('lint');
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
    expect(runAction(folder, base, { 'diff-fail-on': 'error' }).diff?.code).toBe(1);
    expect(runAction(folder, base, { base: '' }).diff).toBeUndefined();
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
    const { diff, summary } = runAction(folder, base, { manifest: 'other.yaml' });
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

  it('fails without an output for a missing manifest or an invalid input', async () => {
    const { folder } = await repository((text) => text);
    for (const inputs of [{ manifest: 'none.yaml' }, { manifest: '--fix' }, { 'fail-on': 'nothing' }]) {
      const { lint, output } = runAction(folder, '', inputs);
      expect([lint?.code, output], JSON.stringify(inputs)).toEqual([2, '']);
    }
  });

  it('is documented with its inputs and outputs', () => {
    const [, used, upload] = exampleBelow('GitHub Actions').jobs.manifest.steps;
    expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(used.with)));
    expect(upload.with.sarif_file).toBe(`\${{ steps.${used.id}.outputs.${Object.keys(action.outputs)[0]} }}`);
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
    expect(rows).toEqual(Object.keys(REPORTERS));
  });
});

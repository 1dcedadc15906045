import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string) => readFileSync(`${root}${file}`, 'utf8');
const WORKFLOWS = globSync('.github/workflows/*.{yml,yaml}', { cwd: root });
const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
ajv.addSchema(JSON.parse(read('test/support/workflow.schema.json')), 'schema');

/** The names that an expression may begin with, besides functions and texts. */
const CONTEXTS = /^(?:github|inputs|steps|env|runner|secrets|needs|job)\./;

/** Returns the mistakes in a workflow file or in an action: those of the schema, and names that do not exist. */
function mistakesIn(kind: 'workflow' | 'action', text: string): string[] {
  const content = parse(text);
  ajv.validate(`schema#/$defs/${kind}`, content);
  const errors = (ajv.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  if (errors.length > 0) return errors;
  const jobs: Record<string, Job> =
    kind === 'workflow' ? content.jobs : { action: { ...content.runs, outputs: content.outputs } };
  return Object.entries(jobs).flatMap(([name, job]) => [
    ...[job.needs ?? []]
      .flat()
      .filter((other) => jobs[other] === undefined || other === name)
      .map((other) => `${name} needs ${other}`),
    ...stepMistakes(name, job),
    ...expressionsIn(JSON.stringify(job)).flatMap((expression) =>
      expressionMistakes(expression, job, content.inputs ?? {}),
    ),
  ]);
}

interface Job {
  readonly needs?: string | readonly string[];
  readonly steps: readonly { readonly id?: string; readonly if?: string }[];
}

function stepMistakes(name: string, { steps }: Job): string[] {
  const ids = steps.flatMap(({ id }) => id ?? []);
  return ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${name} has two steps ${id}`);
}

function expressionsIn(text: string): string[] {
  return [...text.matchAll(/\$\{\{(.*?)\}\}/g)].map(([, expression = '']) => expression.trim());
}

function expressionMistakes(expression: string, { steps }: Job, inputs: Record<string, unknown>): string[] {
  const names = expression.replaceAll(/'[^']*'/g, '').match(/[\w-]+(?:\.[\w-]+)+/g) ?? [];
  return names.filter((name) => {
    const [context, first = ''] = name.split('.');
    if (context === 'steps') return !steps.some(({ id }) => id === first);
    return context === 'inputs' ? inputs[first] === undefined : !CONTEXTS.test(name);
  });
}

describe('the workflow files', () => {
  it.each(WORKFLOWS)('%s meets the schema, and its names exist', (file) => {
    expect(mistakesIn('workflow', read(file))).toEqual([]);
  });

  it('are two', () => {
    expect(WORKFLOWS.sort()).toEqual(['.github/workflows/nightly.yml', '.github/workflows/release.yml']);
  });

  it.each([
    ['timeout-minutes: 90', 'timeout-minute: 90'],
    ['timeout-minutes: 90', "timeout-minutes: '90'"],
    ['runs-on: ubuntu-latest', 'runs-on: ubuntu-lastest'],
    ['needs: check', 'needs: checks'],
    ['contents: write', 'content: write'],
    ['contents: write', 'contents: all'],
    ["tags: ['v*']", "tag: ['v*']"],
    ['actions/checkout@v4', 'actions/checkout'],
    ['- run: npm ci', '- runs: npm ci'],
    ['- run: npm ci', '- run:'],
    ['- run: npm ci', '- run: npm ci\n        uses: actions/checkout@v4'],
    ['id: build', 'id: version'],
    ['steps.build.outputs.digest', 'steps.built.outputs.digest'],
    ['github.token', 'githup.token'],
  ])('with "%s" as "%s" have a mistake', (before, after) => {
    const text = read('.github/workflows/release.yml');
    expect(text).toContain(before);
    expect(mistakesIn('workflow', text.replace(before, after))).not.toEqual([]);
  });
});

describe('action.yml', () => {
  it('meets the schema, and its names exist', () => {
    expect(mistakesIn('action', read('action.yml'))).toEqual([]);
  });

  it.each([
    ['using: composite', 'using: compose'],
    ['      shell: bash\n', ''],
    ['default: error', 'defaults: error'],
    ['steps.lint.outputs.sarif', 'steps.lints.outputs.sarif'],
    ['inputs.fail-on }}', 'inputs.fails-on }}'],
    ["steps.lint.outcome != 'skipped'", "step.lint.outcome != 'skipped'"],
    ['MANIFEST: ${{', 'manifest: ${{'],
  ])('with "%s" as "%s" has a mistake', (before, after) => {
    const text = read('action.yml');
    expect(text).toContain(before);
    expect(mistakesIn('action', text.replace(before, after))).not.toEqual([]);
  });
});

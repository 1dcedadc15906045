import { globSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { lint } from '../../src/check/lint/lint.ts';
import { load } from '../../src/engine/load.ts';
import { completeManifest } from '../manifest/support.ts';
import { worldOf } from '../support/gateway.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const page = read('docs/workers.md');
const [first = '', second = '', container = ''] = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(
  ([, text = '']) => text,
);

const loadExample = (example: string, env = {}) =>
  load({ path: 'gateway.yaml', text: completeManifest(example) }, worldOf(env));

/** Returns the lint rules with findings in the manifest with the number from the environment. */
function rulesWith(workers: string): string[] {
  return lint(loadExample(second, { WORKERS: workers })).map(({ rule }) => rule);
}

describe('docs/workers.md', () => {
  it('begins with a setting that loads', () => {
    const { plan, problems } = loadExample(first);
    expect([problems, plan?.server.workers]).toEqual([[], 'auto']);
  });

  it('shows a number from the environment, and an endpoint with enough connections for the largest one', () => {
    const [, workers = ''] = /^\$ WORKERS=(\d+) signing-gateway run$/m.exec(page) ?? [];
    expect(loadExample(second, { WORKERS: workers }).plan?.server.workers).toBe(Number(workers));
    expect(loadExample(second).plan?.server.workers).toBe('auto');
    const [, most = ''] = /a number from 1 to (\d+)/.exec(page) ?? [];
    expect(rulesWith(most)).not.toContain('upstream-connections-few');
    expect(rulesWith(String(Number(most) + 1))).toEqual(['schema']);
    const [, limit] = /open at most (\d+) connections/.exec(page) ?? [];
    expect(second).toContain(`connections: { limit: ${limit} }`);
  });

  it('shows a container of Kubernetes whose CPU limit is the number of workers', () => {
    const { $defs } = JSON.parse(read('test/deploy/kubernetes.schema.json'));
    const validate = new Ajv2020({ strict: true, strictRequired: false }).compile({ $ref: '#/$defs/container', $defs });
    const object = parse(container);
    validate(object);
    expect(validate.errors).toBeNull();
    const { requests, limits } = object.resources;
    expect([requests.cpu, limits.cpu]).toEqual(['2000m', '2000m']);
    expect(container).toContain('# Two workers with "workers: auto".');
    const [sidecar] = parse(read('deploy/kubernetes/sidecar/deployment.yaml')).spec.template.spec.initContainers;
    for (const key of ['name', 'image', 'env', 'securityContext'])
      expect({ [key]: object[key] }).toEqual({ [key]: sidecar[key] });
  });

  it('quotes messages of the program', () => {
    const code = globSync(['src/cli/run/*.ts', 'src/process/workers/*.ts'], { cwd: root.pathname }).map(read).join('');
    const quotes = [...page.matchAll(/`([a-z]+(?: [a-z]+){2,})`/g)].map(([, text = '']) => text);
    const messages = quotes.filter((text) => !text.startsWith('npm '));
    expect(messages.length).toBe(2);
    expect(messages.filter((message) => !code.includes(`'${message}'`))).toEqual([]);
  });

  it('has the mean time of a request in a queue with random arrivals', () => {
    const [, text = ''] = /the mean time of a request is (.*?)\./s.exec(page.replaceAll(/(?<=\d)\.(?=\d)/g, ',')) ?? [];
    const pairs = [...text.matchAll(/([\d,]+) times .*?at (\d+) %/g)];
    expect(pairs.length).toBe(3);
    for (const [, times = '', percent] of pairs)
      expect([percent, Number(times.replace(',', '.'))]).toEqual([
        percent,
        Number((1 / (1 - Number(percent) / 100)).toFixed(1)),
      ]);
  });
});

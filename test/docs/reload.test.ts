import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { manifestOf } from '../manifest/support.ts';
import { SCENARIOS } from '../torture/scenarios.ts';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/reload.md', root), 'utf8');

describe('docs/reload.md', () => {
  it('begins with settings that load', () => {
    const [, block = ''] = /^```yaml\n(reload:[\s\S]*?)^```$/m.exec(page) ?? [];
    const { plan, problems } = load({ path: 'gateway.yaml', text: manifestOf(block) }, { env: {}, readFile: () => '' });
    expect(problems).toEqual([]);
    expect(plan?.reload).toEqual({ selfTest: 'gateway.test.yaml', graceMs: 10_000 });
  });

  it('lists the log messages of a reload', () => {
    const [, section = ''] = /<!-- messages -->\n([\s\S]*?)<!-- \/messages -->/.exec(page) ?? [];
    const messages = [...section.matchAll(/^\| \w+ \| `(.*?)` \|/gm)].map(([, message]) => message ?? '').slice(1);
    const files = globSync(['src/cli/run/*.ts', 'src/engine/gateway/gateway.ts'], { cwd: root.pathname });
    const code = files.map((file) => readFileSync(new URL(file, root), 'utf8'));
    expect(messages.length).toBe(8);
    expect(messages.filter((message) => !code.join('').includes(`'${message}'`))).toEqual([]);
  });

  it('has a row for each scenario of the stress test', () => {
    const rows = [...page.matchAll(/^\| (.+?) \| \d+ \| [\d,]+ \| 0 \| 0 \| 0 \|/gm)].map(([, name]) => name);
    expect([...new Set(rows)].filter((name) => SCENARIOS.some((scenario) => scenario.name === name))).toEqual(
      SCENARIOS.map(({ name }) => name),
    );
  });
});

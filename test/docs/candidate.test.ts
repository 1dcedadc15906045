import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseFailOn } from '../../src/cli/change-formats.ts';
import { CHANGE_KINDS } from '../../src/traffic/compare-outcomes.ts';
import { UNKNOWN_REASONS } from '../../src/traffic/outcome.ts';
import { startGatewayWithAdmin } from '../support/admin.ts';
import { expectSection } from '../support/section.ts';

const page = readFileSync(new URL('../../docs/candidate.md', import.meta.url), 'utf8');

const MANIFEST = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams: { up: { url: 'http://127.0.0.1:9' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
`;

const tableOf = (title: string, rows: Readonly<Record<string, string>>) =>
  `| ${title} | meaning |\n|---|---|\n${Object.entries(rows)
    .map(([name, meaning]) => `| \`${name}\` | ${meaning} |\n`)
    .join('')}`;

describe('docs/candidate.md', () => {
  it('lists every kind of change and every reason of an unknown decision', () => {
    expectSection('docs/candidate.md', 'changes', tableOf('kind', CHANGE_KINDS));
    expectSection('docs/candidate.md', 'unknown', tableOf('reason', UNKNOWN_REASONS));
  });

  it('lists every member of the report', async () => {
    const site = await startGatewayWithAdmin(MANIFEST);
    const report = (await (await fetch(`${site.admin.url}/candidate`)).json()) as object;
    await site.close();
    const [, section = ''] = /<!-- report -->\n([\s\S]*?)<!-- \/report -->/.exec(page) ?? [];
    expect([...section.matchAll(/^\| `(\w+)`/gm)].map(([, member]) => member)).toEqual(Object.keys(report));
  });

  it('shows conditions of --fail-on that exist', () => {
    const lists = [...page.matchAll(/candidate wait .*--fail-on '?([^'\s]+)/g)].map(([, list = '']) => list.trim());
    expect(lists.length).toBeGreaterThan(1);
    for (const list of lists) expect(() => parseFailOn(list)).not.toThrow();
  });
});

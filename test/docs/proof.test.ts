import { describe, expect, it } from 'vitest';
import { PROOF_FORMATS } from '../../src/cli/diff/diff-formats.ts';
import { manifestOf, prove } from '../proof/support.ts';
import { expectConsoles } from '../support/console.ts';
import { expectSection } from '../support/section.ts';

const MEMBERS: Readonly<Record<string, string>> = {
  version: 'the version of this format: `1`; members may be added',
  old: 'the name of the old manifest',
  new: 'the name of the new manifest',
  differences:
    'those of [diff](diff.md#json), with `counterpart`: `file`, `line` and `column` in the old manifest. `severity` is `error` for a difference that a request shows or that is certain without one, and `warning` if it is undecided',
  property: '`no-new-access` or `equivalent`',
  holds: 'true if the property holds for all requests',
  omitted: 'the number of further differences: of each kind, a hundred are run',
  allowed: 'the allowances with `file`, `line`, `why` and the `requests` that they open',
};

describe('docs/proof.md', () => {
  it('shows the output of its commands', async () => {
    expect(await expectConsoles('docs/proof.md')).toBe(4);
  });

  it('lists every member of the JSON', async () => {
    const routes = [{ id: 'r', path: '/a', access: 'public' }];
    const proof = await prove(manifestOf([{ id: 'r', path: '/a' }]), manifestOf(routes));
    const printed = JSON.parse(PROOF_FORMATS.json({ old: 'old.yaml', next: 'new.yaml', allow: undefined, proof }));
    expect(Object.keys(printed)).toEqual(Object.keys(MEMBERS));
    const rows = Object.entries(MEMBERS).map(([name, content]) => `| \`${name}\` | ${content} |`);
    expectSection('docs/proof.md', 'members', `${['| member | content |', '|---|---|', ...rows].join('\n')}\n`);
  });
});

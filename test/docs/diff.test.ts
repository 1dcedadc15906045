import { describe, expect, it } from 'vitest';
import { formatDiffJson } from '../../src/cli/diff/diff-formats.ts';
import { COMPARISONS } from '../../src/prove/diff/comparisons.ts';
import { differencesOf } from '../diff/support.ts';
import { expectConsoles } from '../support/console.ts';
import { expectSection } from '../support/section.ts';

const MEMBERS: Readonly<Record<string, string>> = {
  version: 'the version of this format: `1`; members may be added',
  old: 'the name of the old manifest',
  new: 'the name of the new manifest',
  'differences[].rule': 'one of the kinds above',
  'differences[].severity': '`error`, `warning` or `info`',
  'differences[].message': 'a sentence; the text may change',
  'differences[].file': 'the new manifest, or the old one for removed values',
  'differences[].line': 'the line, from 1',
  'differences[].column': 'the column, from 1, in UTF-16 code units',
  'differences[].witness':
    '`{"request": {"method", "url", "headers", "role", "issuer", "token", "peer", "body", "bodyBytes"}, "body"}` or `null`; the members of `request` after `url` are optional: `role` is the role of the caller, who has no token without it, `issuer` the method that verifies the token, `token` the header and the claims of the token, with `exp` in seconds from now, `peer` the address of the client, and `bodyBytes` the size of a body, which blanks fill; the outer `body` is that of a schema as JSON',
};

describe('docs/diff.md', () => {
  it('shows the output of its commands', async () => {
    expect(await expectConsoles('docs/diff.md')).toBe(2);
  });

  it('lists every kind of difference', () => {
    const rules = COMPARISONS.flatMap((comparison) => Object.entries(comparison.rules));
    const rows = rules.map(([id, [severity, description]]) => `| \`${id}\` | ${severity} | ${description} |`);
    expectSection(
      'docs/diff.md',
      'differences',
      `${['| kind | severity | description |', '|---|---|---|', ...rows].join('\n')}\n`,
    );
  });

  it('lists every member of the JSON', () => {
    const route = { id: 'r', method: 'GET', path: '/a', upstream: 'up', access: 'public' };
    const manifest = { version: 1, upstreams: { up: { url: 'http://127.0.0.1:9' } }, routes: [route] };
    const differences = differencesOf(manifest, { ...manifest, routes: [{ ...route, path: '/b' }] });
    const { differences: printed, ...rest } = JSON.parse(
      formatDiffJson({ old: 'old.yaml', next: 'new.yaml', differences }),
    );
    const members = [...Object.keys(rest), ...Object.keys(printed[0]).map((name) => `differences[].${name}`)];
    expect(members).toEqual(Object.keys(MEMBERS));
    const rows = Object.entries(MEMBERS).map(([name, content]) => `| \`${name}\` | ${content} |`);
    expectSection('docs/diff.md', 'members', `${['| member | content |', '|---|---|', ...rows].join('\n')}\n`);
  });
});

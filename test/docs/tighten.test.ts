import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PROPOSAL_KINDS } from '../../src/traffic/tighten/proposal.ts';
import { type Line, loadText, logText } from '../candidate/tighten/support.ts';
import { runCli } from '../support/cli.ts';
import { expectConsoles } from '../support/console.ts';
import { expectSection } from '../support/section.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MINUTES_OF_TEN_DAYS = 14_400;

/** Returns the log of ten days for the manifest of the page: a request of each kind in turn. */
function exampleLog(): string {
  const page = readFileSync(new URL('../../docs/tighten.md', import.meta.url), 'utf8');
  const [, text = ''] = /^```yaml\n(# gateway\.yaml\n[\s\S]*?)^```$/m.exec(page) ?? [];
  const { hash } = loadText(text).plan;
  const common = { upstream: 'contacts', manifest: hash.slice(0, 16), credential: 'bearer' };
  const kinds: readonly Line[] = [
    { ...common, method: 'GET', path: '/api/contacts', route: 'contacts', role: 'user' },
    { ...common, method: 'POST', path: '/api/contacts', route: 'contacts', role: 'admin', type: 'application/json' },
    { ...common, method: 'GET', path: '/guides/start', route: 'guides', role: ['admin', 'user'] },
    { ...common, method: 'GET', path: '/guides/4711', route: 'guides', role: 'user' },
  ];
  const lines = Array.from({ length: MINUTES_OF_TEN_DAYS }, (_, index) => ({
    ...kinds[index % kinds.length],
    subject: `s${index % 31}`,
    path: String(kinds[index % kinds.length]?.['path']).replace('4711', String(index)),
  }));
  const refused = { method: 'GET', path: '/api/reports/7', route: 'reports', upstream: 'reports', status: 401 };
  return logText([...lines, { ...refused, decision: 'refused', refusal: 'token_missing', gatewayMs: undefined }]);
}

const MANIFEST = `version: 1
upstreams: { up: { url: 'http://127.0.0.1:9' } }
routes: [{ id: a, method: any, path: /a, upstream: up, access: public }]
`;

const KINDS: Readonly<Record<keyof typeof PROPOSAL_KINDS, string>> = {
  route: 'the removal of the route',
  wildcard: 'routes with named paths in place of a path that ends in `/**`',
  method: 'a list of the methods that were used',
  role: 'the removal from `auth.role.allow`, or a list in `roles` of a route; only with `log.replay`',
  websocket: 'the removal of `websocket`',
  'encoded-slash': 'the removal of `encodedSlash: keep`',
  type: 'the removal from `body.types`; only with `log.replay`',
  'rate-limit': 'the removal of `mode: report`',
  unused: 'the removal of upstreams, rate limits, stores and schemas',
};

const MEMBERS: Readonly<Record<string, string>> = {
  version: 'the version of this format: `1`; members may be added',
  manifest: 'the name of the manifest',
  logs: '`files`, `lines`, `requests`, `skipped` (the number of skipped lines, by reason) and `days` (the time between the first and the last request)',
  allowed: 'the evidence of all allowed requests',
  notes: 'why the log may lack requests, as sentences',
  proposals: 'see below; all of them, in the order in which they apply',
  'proposals[].id': 'the kind and the name, for `--only`',
  'proposals[].kind': 'one of the kinds above',
  'proposals[].message': 'a sentence; the text may change',
  'proposals[].route': 'the id of the route; absent for other parts of the manifest',
  'proposals[].file': 'the manifest, or the included file',
  'proposals[].line': 'the line, from 1',
  'proposals[].column': 'the column, from 1, in UTF-16 code units',
  'proposals[].needs': 'the ids of the proposals without which this one does not apply',
  'proposals[].evidence':
    '`requests`, weighted by `sampled`; `callers`; `more_callers` (there are more than were counted); `from` and `to`; `logs`; and `refused`, the number of refused requests',
  worth_a_look: 'a list of `route`, `message` and `evidence`',
  kept: 'the routes without an allowed request that stay: a list of `route` and `reason`',
  patch: 'the changes of all files, as a patch',
};

describe('docs/tighten.md', () => {
  it('shows the output of its commands', async () => {
    expect(await expectConsoles('docs/tighten.md', { 'access.log': exampleLog() })).toBe(2);
  });

  it('lists every kind of proposal', () => {
    const rows = Object.entries(KINDS).map(([kind, change]) => {
      return `| \`${kind}\` | ${PROPOSAL_KINDS[kind as keyof typeof KINDS]} | ${change} |`;
    });
    expectSection(
      'docs/tighten.md',
      'proposals',
      `${['| kind | proposals for | change |', '|---|---|---|', ...rows].join('\n')}\n`,
    );
  });

  it('lists every member of the JSON', async () => {
    const log = logText([{ method: 'GET', path: '/a', route: 'a', upstream: 'up' }]);
    const folder = temporaryFolder('docs', { 'gateway.yaml': MANIFEST, 'access.log': log });
    const json = JSON.parse((await runCli(['tighten', 'access.log', 'gateway.yaml', '-f', 'json'], folder)).out);
    const members = Object.keys(json).flatMap((name) =>
      name === 'proposals' ? [name, ...Object.keys(json.proposals[0]).map((member) => `${name}[].${member}`)] : [name],
    );
    expect(members).toEqual(Object.keys(MEMBERS));
    const rows = Object.entries(MEMBERS).map(([name, content]) => `| \`${name}\` | ${content} |`);
    expectSection(
      'docs/tighten.md',
      'members',
      `${['| member of `json` | content |', '|---|---|', ...rows].join('\n')}\n`,
    );
  });
});

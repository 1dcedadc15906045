import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { expectConsoles } from '../support/console.ts';
import { expectSection } from '../support/section.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MEMBERS: Readonly<Record<string, string>> = {
  version: 'the version of this format: `1`; members may be added',
  new: 'the name of the new manifest',
  old: 'the name of the old manifest',
  logs: 'the names of the logs',
  lines:
    'the number of lines with a request; all other numbers are requests, of which a sampled line stands for several',
  firstTime: 'the time of the earliest request',
  lastTime: 'the time of the latest request',
  linesWithoutFacts: 'lines that lack the facts of `log.replay`',
  otherManifests: '`{"hash", "lines", "first": {"source", "line"}}` for each other manifest that wrote lines',
  calibration:
    'the log compared with the old manifest: the members from `requests` to `ungrouped`, and `percent`: the share of the known outcomes that it reproduces',
  requests: 'the sum of `same`, `changed` and `unknown`',
  same: 'requests with the same decision',
  unknown: 'requests with an unknown decision, by reason',
  changed: 'changed requests, by kind',
  groups:
    'changed requests by kind and decisions: `kind`, the decisions `from` and `to`, `requests`, `callers` and the first `lines`, such as `access.log:12`',
  ungrouped: 'changed requests that are in no group, because there are more than 2,000 groups',
  unused:
    'what no allowed request used of the old manifest: the `routes`, the `methods` and `roles` of other routes by their ids, and `sampled`: `true` if the logs have only a share of the requests',
};

const page = readFileSync(new URL('../../docs/replay.md', import.meta.url), 'utf8');

/** Returns the hash of a manifest on the page, as its log has it. */
function hashOf(name: string): string {
  const [text = ''] = page.split('```yaml\n').filter((part) => part.startsWith(`# ${name}\n`));
  return createHash('sha256')
    .update(text.split('```')[0] ?? '')
    .digest('hex')
    .slice(0, 16);
}

const COMMON = {
  level: 30,
  time: 1_790_000_000_000,
  msg: 'request',
  id: 'a',
  manifest: hashOf('old.yaml'),
  peer: '10.0.0.1',
};
const CONTACTS = {
  route: 'contacts',
  upstream: 'contacts',
  status: 200,
  gatewayMs: 1,
  credential: 'bearer',
  query: [],
};
const request = (role: string, at: number, more: object = {}) => ({
  ...COMMON,
  time: COMMON.time + at * 1_000,
  method: 'GET',
  path: `/contacts/${at}`,
  ...CONTACTS,
  subject: `hash-of-${role}-${at % 3}`,
  role,
  ...more,
});
const LINES = [
  ...Array.from({ length: 40 }, (_, index) => request('admin', index)),
  ...Array.from({ length: 8 }, (_, index) => request('user', 40 + index)),
  request('admin', 50, {
    method: 'POST',
    path: '/contacts',
    route: 'contact-new',
    type: 'application/json',
    bytesIn: 20,
  }),
  request('admin', 51, { method: 'POST', path: '/contacts', route: 'contact-new', type: 'text/plain', bytesIn: 20 }),
];
const LOG = LINES.map((line) => `${JSON.stringify(line)}\n`).join('');
const MANIFEST = `version: 1
upstreams: { contacts: { url: 'http://127.0.0.1:9' } }
routes:
  - { id: contacts, method: any, path: /contacts/**, upstream: contacts, access: public }
`;

describe('docs/replay.md', () => {
  it('shows the output of its commands', async () => {
    expect(await expectConsoles('docs/replay.md', { 'access.log': LOG })).toBe(2);
  });

  it('lists every member of the JSON', async () => {
    const folder = temporaryFolder('docs', { 'gateway.yaml': MANIFEST, 'access.log': LOG });
    const { out } = await runCli(
      ['replay', 'access.log', '--from', 'gateway.yaml', 'gateway.yaml', '-f', 'json'],
      folder,
    );
    expect(Object.keys(JSON.parse(out))).toEqual(Object.keys(MEMBERS));
    const rows = Object.entries(MEMBERS).map(([name, content]) => `| \`${name}\` | ${content} |`);
    expectSection('docs/replay.md', 'members', `${['| member | content |', '|---|---|', ...rows].join('\n')}\n`);
  });
});

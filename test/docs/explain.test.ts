import { describe, expect, it } from 'vitest';
import { explain } from '../../src/explain/explain.ts';
import type { Explanation } from '../../src/explain/explanation.ts';
import { load, type PlannedManifest } from '../../src/load.ts';
import { expectConsoles } from '../support/console.ts';
import { expectSection } from '../support/section.ts';
import { planned } from '../testing/support.ts';

/** Every member of an explanation; of lists, of what is in them. */
const MEMBERS: Readonly<Record<string, string>> = {
  version: 'of this shape: `1`',
  manifest: 'its file',
  'request.method': 'as it was asked',
  'request.target': 'what stands in the request line',
  'request.claims': 'of the caller; `null`: no token was stated',
  outcome: '`forwarded`, `refused`, or `responded` if the gateway itself responded, to a preflight for example',
  refusal: '`null`: nothing was refused',
  'refusal.status': 'of the answer',
  'refusal.code': 'a `code` of [errors.md](errors.md)',
  'refusal.reason': 'what exactly was wrong, as [the log](log.md) says it',
  'refusal.detail': 'what the client is told',
  'refusal.errors[]': 'where the request is at fault',
  'refusal.errors[].pointer': 'a JSON Pointer into the body, or to a parameter',
  'refusal.errors[].message': 'what is wrong there',
  'reported[]': 'what would have been refused, where the route only reports',
  'reported[].code': 'as that of a refusal',
  'reported[].pointers[]': 'JSON Pointers, as those of errors',
  'steps[]': 'in the order in which the gateway takes them, up to the one that ended it',
  'steps[].step':
    '`message`, `path`, `preflight`, `route`, `origin` (of a WebSocket handshake), `token`, `role`, `parameters`, `body`, `forward`, `response`',
  'steps[].verdict': '`passed`, `refused`, `reported`, or `responded`',
  'steps[].message': 'a sentence; its words may change',
  'steps[].locations[]': 'what in the manifest says so',
  'steps[].locations[].file': 'the included file that it stands in; left out: the manifest itself',
  'steps[].locations[].line': 'from 1',
  'steps[].locations[].column': 'from 1, in UTF-16 code units',
  'steps[].locations[].pointer': 'a JSON Pointer into the manifest',
  route: 'the route that has the request; `null`: none has it',
  'route.id': '',
  'route.methods[]': '',
  'route.path': 'as the manifest has it',
  'route.access': '`public` or `protected`',
  'route.parameters': 'by name, as sent',
  'route.file': 'as that of a line',
  'route.line': 'of the manifest',
  'candidates[]': 'the other routes that know the path',
  'candidates[].id': '',
  'candidates[].methods[]': '',
  'candidates[].path': '',
  'candidates[].file': 'as that of a line',
  'candidates[].line': '',
  'candidates[].reason':
    '`less-specific`; `other-method`; `encoded-slash`: it keeps none; `other-reading`: some servers would read the path as one of a route that asks for more',
  'candidates[].otherRoute': 'the route that takes precedence; `null` if the reason is not another route',
  upstream: 'what the upstream gets; `null`: it is not asked',
  'upstream.id': '',
  'upstream.method': '',
  'upstream.url': 'of the target that has its turn first',
  'upstream.endpoints[]': 'all of them: scheme, host and port',
  'upstream.headers[]': 'name and value, in the order in which they are sent',
  'upstream.bodyBytes': '',
  'upstream.timeoutsMs.connect': 'in milliseconds; `null`: no such limit',
  'upstream.timeoutsMs.response': '',
  'upstream.timeoutsMs.idle': '',
  'upstream.timeoutsMs.total': '',
};

/** Values with names of the author's own, and pairs. */
const LEAVES = new Set(['request.claims', 'route.parameters', 'upstream.headers[]']);

function* membersOf(value: unknown, name = ''): Generator<string> {
  if (name !== '') yield name;
  if (LEAVES.has(name) || value === null || typeof value !== 'object') return;
  if (Array.isArray(value)) for (const item of value) yield* membersOf(item, `${name}[]`);
  else
    for (const [key, inside] of Object.entries(value)) yield* membersOf(inside, name === '' ? key : `${name}.${key}`);
}

describe('docs/explain.md', () => {
  it('shows what is printed', async () => {
    expect(await expectConsoles('docs/explain.md', { 'contact.json': '{"name":"Ada"}\n' })).toBe(3);
  }, 60_000);

  it('lists every member of an explanation', async () => {
    const loaded = planned();
    const reporting = planned(REPORTING);
    const asked = (method: string, target: string, body?: string) => ({
      method,
      target,
      headers: ['Content-Type', 'application/json'],
      body: body === undefined ? undefined : Buffer.from(body),
    });
    const all: Explanation[] = [
      await explain(loaded, asked('GET', '/contacts/7'), { company_role: 'user' }),
      await explain(loaded, asked('POST', '/notes', '{}'), undefined),
      await explain(loaded, asked('GET', '/notes'), undefined),
      await explain(reporting, asked('POST', '/notes', '{}'), undefined),
      await explain(included(), asked('GET', '/notes'), undefined),
    ];
    const members = new Set(all.flatMap((one) => [...membersOf(one)]));
    const known = Object.keys(MEMBERS);
    // A list is named by what is in it, and a map by its members, unless it may be null.
    const named = [...members].filter(
      (name) => !known.some((other) => other === `${name}[]` || other.startsWith(`${name}.`)) || known.includes(name),
    );
    expect(named.sort()).toEqual(known.sort());
    const rows = Object.entries(MEMBERS).map(([name, what]) => `| \`${name}\` | ${what} |`);
    expectSection('docs/explain.md', 'members', `${['| member | what |', '|---|---|', ...rows].join('\n')}\n`);
  });
});

const REPORTING = `version: 1
upstreams: { up: { url: http://127.0.0.1:9 } }
routes:
  - { id: note, method: POST, path: /notes, upstream: up, access: public, validation: report, body: { schema: { required: [text] } } }
  - { id: rest, method: any, path: /**, upstream: up, access: public }
`;

function included(): PlannedManifest {
  const readFile = () => `routes:
  - { id: note, method: GET, path: /notes, upstream: up, access: public }
  - { id: rest, method: any, path: /**, upstream: up, access: public }
`;
  const text = 'version: 1\ninclude: routes.yaml\nupstreams: { up: { url: http://127.0.0.1:9 } }\n';
  const loaded = load({ path: 'gateway.yaml', text }, { env: {}, readFile });
  if (loaded.plan === undefined) throw new Error(JSON.stringify(loaded.problems));
  return loaded;
}

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { verb } from '../../src/cli/explain/explain.ts';
import { load, type PlannedManifest } from '../../src/engine/load.ts';
import type { Explanation } from '../../src/prove/explain/explain-request.ts';
import { explain } from '../../src/prove/explain/explain-request.ts';
import { AUTH } from '../manifest/support.ts';
import { expectConsoles } from '../support/console.ts';
import { expectSection } from '../support/section.ts';
import { planned } from '../testing/support.ts';

/** Every member of an explanation; `[]` stands for the items of a list. */
const MEMBERS: Readonly<Record<string, string>> = {
  version: 'the version of this format: `1`',
  manifest: 'the file of the manifest',
  'request.method': 'the method',
  'request.target': 'the request target',
  'request.claims': 'the claims of the caller; `null`: no token',
  outcome: '`forwarded`, `refused`, or `responded` by the gateway itself, as for preflights',
  refusal: 'the refusal, or `null`',
  'refusal.status': 'the status of the response',
  'refusal.code': 'a `code` of [Errors](errors.md)',
  'refusal.reason': 'the exact reason, as in the [access log](log.md)',
  'refusal.detail': 'the message for the client',
  'refusal.errors[]': 'the violations of the request',
  'refusal.errors[].pointer': 'a JSON Pointer into the body, or to a parameter',
  'refusal.errors[].message': 'the violation',
  'refusal.limit': 'the rate limit that refuses the request; absent for other refusals',
  'reported[]': 'the refusals that a route or a rate limit in report mode only reports',
  'reported[].code': 'a `code` as in `refusal`',
  'reported[].pointers[]': 'JSON Pointers as in `errors`; names that are not in the manifest are `*`, as in the log',
  'reported[].limit': 'the rate limit; absent for other refusals',
  'steps[]': 'the steps of the gateway, in order, up to the last one',
  'steps[].step':
    '`message`, `path`, `preflight`, `route`, `origin` (of a WebSocket handshake), `limits`, `token`, `role`, `parameters`, `body`, `forward`, `response`; rate limits apply before `token`, after `role` and after `body`, so `limits` can occur several times',
  'steps[].verdict': '`passed`, `refused`, `reported`, or `responded`',
  'steps[].message': 'a sentence; the text may change',
  'steps[].locations[]': 'the values in the manifest that decide',
  'steps[].locations[].file': 'the included file; absent for the manifest itself',
  'steps[].locations[].line': 'the line, from 1',
  'steps[].locations[].column': 'the column, from 1, in UTF-16 code units',
  'steps[].locations[].pointer': 'a JSON Pointer into the manifest',
  route: 'the matched route, or `null`',
  'route.id': 'its id',
  'route.methods[]': 'its methods',
  'route.path': 'its path, as in the manifest',
  'route.access': '`public` or `protected`',
  'route.parameters': 'the segments of `{name}`, by name, as sent',
  'route.file': 'the included file',
  'route.line': 'the line',
  'candidates[]': 'the other routes for this path',
  'candidates[].id': 'its id',
  'candidates[].methods[]': 'its methods',
  'candidates[].path': 'its path, as in the manifest',
  'candidates[].file': 'the included file',
  'candidates[].line': 'the line',
  'candidates[].reason':
    'why it was not matched: `less-specific`; `other-method`; `encoded-slash`: it does not keep encoded slashes; `other-reading`: some servers would read the path as one of a stricter route',
  'candidates[].otherRoute': 'the route that was preferred, or `null`',
  'near[]': 'at most three routes with a similar path, the nearest first, if no route has the path',
  'near[].id': 'its id',
  'near[].methods[]': 'its methods',
  'near[].path': 'its path, as in the manifest',
  'near[].file': 'the included file',
  'near[].line': 'the line',
  upstream: 'the request to the upstream; `null`: there is none',
  'upstream.id': 'the name of the upstream',
  'upstream.method': 'the method',
  'upstream.url': 'the URL at the first selected endpoint',
  'upstream.endpoints[]': 'all endpoints: scheme, host and port',
  'upstream.headers[]': 'name and value, in order',
  'upstream.bodyBytes': 'the length of the body',
  'upstream.timeoutsMs.connect': 'the timeout in milliseconds; `null`: no limit',
  'upstream.timeoutsMs.response': 'the same',
  'upstream.timeoutsMs.idle': 'the same',
  'upstream.timeoutsMs.eventStream': 'the same',
  'upstream.timeoutsMs.total': 'the same',
  'invariants[]': 'the [invariants](invariants.md) that are about the request',
  'invariants[].id': 'its id',
  'invariants[].why': 'its reason, or `null`',
  'invariants[].exception': 'the reason for which the route is an exception; `null`: it is none',
  'invariants[].file': 'the included file',
  'invariants[].line': 'the line',
  loggedPath:
    '`keyed`: the access log has [surrogates](log.md#keyed-paths) in place of identifiers in the path; `plain`: the path as sent; `null` without a valid path',
};

/** Members with keys that users choose, and pairs. */
const LEAVES = new Set(['request.claims', 'route.parameters', 'upstream.headers[]']);

function* membersOf(value: unknown, name = ''): Generator<string> {
  if (name !== '') yield name;
  if (LEAVES.has(name) || value === null || typeof value !== 'object') return;
  if (Array.isArray(value)) for (const item of value) yield* membersOf(item, `${name}[]`);
  else
    for (const [key, inside] of Object.entries(value)) yield* membersOf(inside, name === '' ? key : `${name}.${key}`);
}

describe('docs/explain.md', () => {
  it('shows the output of its commands', async () => {
    expect(await expectConsoles('docs/explain.md', { 'contact.json': '{"name":"Ada"}\n' })).toBe(3);
  });

  it('lists every option', () => {
    const page = readFileSync(new URL('../../docs/explain.md', import.meta.url), 'utf8');
    for (const option of Object.keys(verb.options).filter((name) => name !== 'config'))
      expect(page).toMatch(new RegExp(`^\\| \`--${option}\\b`, 'm'));
  });

  it('lists every member of an explanation', async () => {
    const loaded = planned();
    const reporting = planned(REPORTING);
    const requestOf = (method: string, target: string, body?: string) => ({
      method,
      target,
      headers: ['Content-Type', 'application/json'],
      body: body === undefined ? undefined : Buffer.from(body),
    });
    const all: Explanation[] = [
      await explain(loaded, requestOf('GET', '/contacts/7'), { company_role: 'user' }),
      await explain(loaded, requestOf('POST', '/notes', '{}'), undefined),
      await explain(loaded, requestOf('GET', '/notes'), undefined),
      await explain(reporting, requestOf('POST', '/notes', '{}'), undefined),
      await explain(planned(limited('enforce')), requestOf('GET', '/notes'), undefined),
      await explain(planned(limited('report')), requestOf('GET', '/notes'), undefined),
      await explain(included(), requestOf('GET', '/notes'), undefined),
      await explain(included(), requestOf('GET', '/text2'), undefined),
    ];
    const members = new Set(all.flatMap((one) => [...membersOf(one)]));
    const documented = Object.keys(MEMBERS);
    // A list is documented by its items, and a map by its members, unless it may be null.
    const names = [...members].filter(
      (name) =>
        !documented.some((other) => other === `${name}[]` || other.startsWith(`${name}.`)) || documented.includes(name),
    );
    expect(names.sort()).toEqual(documented.sort());
    const rows = Object.entries(MEMBERS).map(([name, content]) => `| \`${name}\` | ${content} |`);
    expectSection('docs/explain.md', 'members', `${['| member | content |', '|---|---|', ...rows].join('\n')}\n`);
  });
});

const REPORTING = `version: 1
upstreams: { up: { url: http://127.0.0.1:9 } }
routes:
  - { id: note, method: POST, path: /notes, upstream: up, access: public, validation: report, body: { schema: { required: [text] } } }
  - { id: rest, method: any, path: /**, upstream: up, access: public }
`;

/** Returns a manifest with a rate limit whose key requests lack. */
const limited = (mode: 'enforce' | 'report') => `version: 1
upstreams: { up: { url: http://127.0.0.1:9 } }
rateLimits: { tenant: { key: { header: X-Tenant }, missing: refuse, allow: 5 per 1m, mode: ${mode} } }
routes:
  - { id: notes, method: GET, path: /notes, upstream: up, access: public, rateLimits: [tenant] }
`;

function included(): PlannedManifest {
  const readFile = (path: string) =>
    path === 'rules.yaml'
      ? 'invariants: [{ id: tokens, except: [note], require: { access: protected }, why: notes are public }]\n'
      : `routes:
  - { id: note, method: GET, path: /notes, upstream: up, access: public }
  - { id: rest, method: any, path: /notes/**, upstream: up, access: protected }
  - { id: text, method: GET, path: /text, upstream: up, access: protected }
`;
  const invariants = 'invariants: { file: rules.yaml }';
  const text = `version: 1\ninclude: routes.yaml\n${invariants}\nupstreams: { up: { url: http://127.0.0.1:9 } }\n${AUTH}`;
  const loaded = load({ path: 'gateway.yaml', text }, { env: {}, readFile });
  if (loaded.plan === undefined) throw new Error(JSON.stringify(loaded.problems));
  return loaded;
}

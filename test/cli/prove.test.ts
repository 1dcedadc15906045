import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MANIFEST = `version: 1
upstreams: { identity: { url: http://127.0.0.1:7001 }, contacts: { url: http://127.0.0.1:7002 } }
include: more.yaml
invariants:
  - { id: own, when: { path: /internal/** }, require: { served: false } }
routes:
  - { id: login, method: POST, path: /login, upstream: identity, access: public }
`;
const MORE = `routes:
  - { id: note, method: [GET, PUT], path: '/notes/{id}', upstream: contacts, access: public }
`;

const folder = temporaryFolder('prove', {
  'gateway.yaml': MANIFEST,
  'more.yaml': MORE,
  'broken.yaml': MANIFEST.replace('/login', '/internal/login'),
});
const run = (...args: string[]) => runCli(['prove', ...args], folder);

describe('prove', () => {
  it('exits with 0 if a requirement holds for all requests', async () => {
    expect(await run('when path: /files/** require served: false')).toEqual({
      code: 0,
      out: 'holds for all requests\n',
      err: '',
    });
  });

  it('exits with 1, and shows a request for each route that breaks a requirement', async () => {
    const { code, out } = await run('when method: [POST, PUT] require access: protected', 'gateway.yaml');
    expect(code).toBe(1);
    expect(out.split('\n')).toEqual([
      'does not hold for 2 routes:',
      '  POST /login goes to "login" (gateway.yaml:7), which is public',
      '  PUT /notes/x goes to "note" (more.yaml:2), which is public',
      '',
    ]);
  });

  it.each([
    ['braces', 'when { upstream: identity } require { access: protected }'],
    ['the form of the manifest', '{ when: { upstream: identity }, require: { access: protected } }'],
    ['lines', 'when:\n  upstream: identity\nrequire:\n  access: protected\n'],
    ['no condition but an exception', '{ require: { access: protected }, except: [note], why: notes }'],
  ])('takes a question with %s', async (_name, question) => {
    const { out } = await run(question);
    expect(out).toContain('does not hold for 1 route:\n  POST /login goes to "login"');
  });

  it('prints the result as JSON', async () => {
    const { code, out } = await run('when upstream: contacts require tls: true', '--json', '-c', 'gateway.yaml');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toEqual({
      version: 1,
      holds: false,
      requests: [
        {
          method: 'GET',
          path: '/notes/x',
          route: 'note',
          file: 'more.yaml',
          line: 2,
          member: 'tls',
          message: 'forwards to "contacts" without TLS',
        },
      ],
      undecided: [],
    });
  });

  it.each([
    ['without a question', [], 'ask a question, for example'],
    ['for another text', ['is everything fine?'], "write it as 'when path: /internal/** require served: false'"],
    ['for broken YAML', ['require { access: '], "write it as 'when path: /internal/** require served: false'"],
    [
      'for an unknown value',
      ['require access: protectd'],
      'require.access: "protectd" is not an access level; did you mean "protected"?',
    ],
    [
      'for an unknown name',
      ['when upstream: identiy require tls: true'],
      'when.upstream: the manifest has no upstream "identiy"; did you mean "identity"?',
    ],
    [
      'for an unknown member',
      ['when host: a require tls: true'],
      'when.host: unknown key "host"; write one of: path, method',
    ],
    ['without a requirement', ['{ when: { access: public } }'], '"require" is missing'],
  ])('exits with 2 %s', async (_name, args, message) => {
    const { code, out, err } = await run(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  });

  it('exits with 2 for a manifest with errors, its own invariants included', async () => {
    const { code, err } = await run('require tls: true', 'broken.yaml');
    expect(code).toBe(2);
    expect(err).toContain('"own" does not hold: POST /internal/login goes to "login", which serves it');
  });
});

import { describe, expect, it } from 'vitest';
import { manifestOf, prove, resultsOf, rulesOf } from './support.ts';

const OLD = manifestOf([{ id: 'contacts', path: '/contacts/**' }]);
const EXPORT = { id: 'export', path: '/export/{id}' };
const OPENED = manifestOf([{ id: 'contacts', path: '/contacts/**' }, EXPORT]);
const ALLOW = '- { when: { path: /export/** }, why: customers export their contacts }\n';

describe('an allowance', () => {
  it('covers the access that it names, which the proof lists', async () => {
    const { holds, allowed } = await prove(OLD, OPENED, 'no-new-access', ALLOW);
    expect(holds).toBe(true);
    expect(
      allowed.map(({ allowance: { why, line }, opened }) => [
        why,
        line,
        opened.map(({ witness }) => witness?.request?.url),
      ]),
    ).toEqual([['customers export their contacts', 1, ['/export/x']]]);
  });

  it('covers nothing else', async () => {
    const next = manifestOf([{ id: 'contacts', path: '/contacts/**', access: 'public' }, EXPORT]);
    const { holds, differences, allowed } = await prove(OLD, next, 'no-new-access', ALLOW);
    expect(holds).toBe(false);
    expect(differences.map(({ rule }) => rule)).toEqual(['route-public']);
    expect(allowed[0]?.opened.map(({ rule }) => rule)).toEqual(['new-access']);
  });

  it.each([
    ['another method', '- { when: { path: /export/**, method: POST }, why: x }'],
    ['one of the paths', '- { when: { path: /export/mine }, why: x }'],
    ['another upstream', '- { when: { path: /export/**, upstream: other }, why: x }'],
    ['public routes', '- { when: { path: /export/**, access: public }, why: x }'],
  ])('for %s opens nothing, and the change is not proven', async (_name, allow) => {
    const { holds, allowed } = await prove(OLD, OPENED, 'no-new-access', allow);
    expect(holds).toBe(false);
    expect(allowed[0]?.opened).toEqual([]);
  });

  it('covers a part of a new route, and the proof shows a request of the rest', async () => {
    const next = manifestOf([
      { id: 'contacts', path: '/contacts/**' },
      { id: 'all', path: '/**' },
    ]);
    const { requests } = resultsOf(
      await prove(OLD, next, 'no-new-access', '- { when: { path: ["/{a}", "/"] }, why: short }'),
    );
    expect(requests.map((request) => request?.url)).toEqual(['/x/x']);
  });

  it('covers a difference of a pair by method', async () => {
    const bodies = (type: string) =>
      manifestOf([{ id: 'r', method: ['POST', 'PUT'], path: '/r', body: { schema: { type } } }]);
    const allow = (method: string) => `- { when: { path: /r, method: ${method} }, why: x }`;
    expect((await prove(bodies('integer'), bodies('number'), 'no-new-access', allow('[POST, PUT]'))).holds).toBe(true);
    const { requests } = resultsOf(await prove(bodies('integer'), bodies('number'), 'no-new-access', allow('POST')));
    expect(requests.map((request) => request?.method)).toEqual(['PUT']);
  });

  it('covers no setting', async () => {
    const next = { ...OLD, server: { trustedProxies: ['10.0.0.0/8'] } };
    const proof = await prove(OLD, next, 'no-new-access', '- { when: {}, why: everything }');
    expect(rulesOf(proof)).toEqual(['(trusted-proxies-widened)']);
  });

  it.each([
    ['{}', 'write a list of'],
    ['- { when: { path: /a } }', 'entry 1: write a list of'],
    ['- { when: { pth: /a }, why: x }', 'entry 1: when'],
    ['- { when: { upstream: nowhere }, why: x }', 'the manifest has no upstream "nowhere"'],
    ['- [', ''],
  ])('in the form %s is refused', async (allow, message) => {
    await expect(prove(OLD, OPENED, 'no-new-access', allow)).rejects.toThrow(message);
  });
});

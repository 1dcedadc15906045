import { expect, test } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { diff } from '../../src/prove/diff/diff-manifests.ts';
import { createDiffSide } from '../../src/prove/diff/side.ts';
import { worldOf } from '../support/gateway.ts';

const world = worldOf();
const jwt = (name: string, more: object = {}) => ({
  jwt: {
    jwks: `https://${name}.test/keys`,
    algorithms: ['ES256'],
    issuer: `https://${name}.test`,
    audience: 'a',
    ...more,
  },
});
const ROLE = { claim: '/role', allow: ['admin'], message: 'no' };
const [staff, partners] = [
  { name: 'staff', ...jwt('staff') },
  { name: 'partners', ...jwt('partners') },
];

function sideOf(tokens: object, route: object = {}, role: object = ROLE) {
  const text = JSON.stringify({
    version: 1,
    upstreams: { up: { url: 'http://127.0.0.1:9' } },
    auth: { tokens, role },
    routes: [{ id: 'all', method: 'GET', path: '/all', upstream: 'up', access: 'protected', ...route }],
  });
  const loaded = load({ path: 'gateway.yaml', text }, world);
  if (loaded.plan === undefined) throw new Error(loaded.problems.map(({ message }) => message).join('\n'));
  return createDiffSide(loaded, world.readFile);
}

const rules = (old: ReturnType<typeof sideOf>, next: ReturnType<typeof sideOf>) =>
  diff(old, next).map(({ severity, rule }) => `${severity} ${rule}`);

test('a list with one method is the same as that method without a list', () => {
  expect(rules(sideOf(jwt('staff')), sideOf([staff]))).toEqual([]);
  expect(rules(sideOf([staff]), sideOf([{ ...staff, name: 'all' }]))).toEqual([]);
  expect(rules(sideOf(jwt('staff')), sideOf([{ ...staff, role: ROLE }], {}, 'any' as never))).toEqual([]);
  expect(rules(sideOf([staff, partners]), sideOf([staff, { ...partners, role: ROLE }]))).toEqual([]);
});

test('a further method is information, and a route that accepts its tokens an error', () => {
  expect(rules(sideOf(jwt('staff')), sideOf([staff, partners]))).toEqual(['info issuer-added']);
  const open = sideOf([staff, partners], { issuers: ['staff', 'partners'] });
  expect(rules(sideOf(jwt('staff')), open)).toEqual(['error issuer-accepted', 'info issuer-added']);
  expect(rules(sideOf([staff, partners]), sideOf([partners, staff]))).toEqual([
    'error issuer-accepted',
    'warning issuer-refused',
  ]);
});

test('another name of a method is information, and another method of its name is not', () => {
  const other = { ...staff, name: 'employees' };
  expect(rules(sideOf([staff, partners]), sideOf([other, partners]))).toEqual(['info issuer-renamed']);
  const accepting = (name: string) => ({ issuers: [name, 'partners'] });
  expect(
    rules(sideOf([staff, partners], accepting('staff')), sideOf([other, partners], accepting('employees'))),
  ).toEqual(['info issuer-renamed']);
  expect(rules(sideOf([staff, partners]), sideOf([{ ...other, ...jwt('others') }, partners]))).toContain(
    'error issuer-accepted',
  );
  const swapped = [
    { ...partners, name: 'staff' },
    { ...staff, name: 'partners' },
  ];
  expect(rules(sideOf([staff, partners]), sideOf(swapped))).toContain('error token-issuer');
});

test('changes of one method of several are those of that method', () => {
  const changed = (more: object, role?: object) =>
    rules(
      sideOf([staff, partners]),
      sideOf([staff, { name: 'partners', ...jwt('partners', more), ...(role && { role }) }]),
    );
  expect(changed({ issuer: 'https://other.test' })).toEqual(['error token-issuer']);
  expect(changed({ audience: ['a'] })).toEqual([]);
  expect(changed({ audience: ['a', 'b'] })).toEqual(['error token-audience']);
  expect(rules(sideOf(jwt('staff', { audience: ['a', 'b'] })), sideOf(jwt('staff')))).toEqual([
    'info token-conditions-more',
  ]);
  expect(changed({ jwks: 'https://other.test/keys' })).toEqual(['error token-keys']);
  expect(changed({}, { ...ROLE, claim: '/other' })).toEqual(['error role-claim']);
  expect(changed({}, { ...ROLE, allow: ['admin', 'user'] })).toEqual(['error role-widened']);
  expect(changed({}, 'any' as never)).toEqual(['error role-widened']);
});

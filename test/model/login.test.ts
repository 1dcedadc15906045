import { describe, expect, it } from 'vitest';
import type { RouteEntry } from '../../src/engine/manifest/manifest.generated.ts';
import { createOfflineGateway } from '../../src/prove/offline/offline-gateway.ts';
import { type Caller, StubVerifier } from '../../src/prove/offline/stub-verifier.ts';
import { loadCase } from './compared-decisions.ts';
import { checkLoginToken } from './decisions/check-caller.ts';
import { ExpectedRefusal } from './decisions/model-request.ts';

const part = (text: string) => Buffer.from(text).toString('base64url');
/** A text that the gateway finds as a JWT. */
const jwt = (name: string) => `${part('{"alg":"ES256"}')}.${part(`{"sub":"${name}"}`)}.${part('x'.repeat(64))}`;

const TOKENS: Readonly<Record<string, Caller>> = {
  admin: { claims: { role: 'admin' }, issuer: 'one' },
  user: { claims: { role: 'user' }, issuer: 'one' },
  guest: { claims: { role: 'guest' }, issuer: 'one' },
  partner: { claims: { role: 'partner' }, issuer: 'two' },
  stranger: { claims: { role: 'admin' }, issuer: 'two' },
};
const NAMES = ['none', 'invalid', ...Object.keys(TOKENS)];
const keys = (issuer: string) => ({ jwks: 'https://k.example/keys', algorithms: ['ES256'], issuer, audience: 'a' });
const LOGINS = [
  { access: 'public', login: { token: '/token' } },
  { access: 'public', login: { token: '/token' }, roles: ['admin'] },
  { access: 'public', login: { token: '/token', issuer: 'two' } },
  { access: 'public', login: { token: '/token' }, roles: 'any' },
];

const planned = loadCase({
  version: 1,
  upstreams: { up: { url: 'http://127.0.0.1:9' } },
  auth: {
    tokens: [
      { name: 'one', jwt: keys('one') },
      { name: 'two', jwt: keys('two'), role: { claim: '/role', allow: ['partner'], message: 'no' } },
    ],
    role: { claim: '/role', allow: ['admin', 'user'], message: 'no' },
  },
  routes: LOGINS.map((login, index) => ({
    id: `r${index}`,
    method: 'POST',
    path: `/r${index}`,
    upstream: 'up',
    ...login,
  })),
});

/** Returns the decision of the model about two tokens of a response, in the order of the gateway. */
function codeOfModel(route: RouteEntry, listed: string, other: string): string | undefined {
  if (planned === undefined) throw new Error('the manifest does not load');
  const tokenOf = (name: string) => TOKENS[name] ?? (name === 'none' ? name : 'invalid');
  try {
    checkLoginToken(planned.manifest, route, tokenOf(listed), true);
    checkLoginToken(planned.manifest, route, tokenOf(other), false);
  } catch (refusal) {
    if (refusal instanceof ExpectedRefusal) return refusal.message;
    throw refusal;
  }
  return undefined;
}

describe('a token in the response of a login', () => {
  it.each(LOGINS.map((login, index) => [JSON.stringify(login), index] as const))('for %s', async (_login, index) => {
    if (planned === undefined) throw new Error('the manifest does not load');
    const verifier = new StubVerifier();
    for (const [name, caller] of Object.entries(TOKENS)) verifier.setToken(jwt(name), caller);
    // Another JWT that the gateway would never accept may pass.
    verifier.setToken(jwt('invalid'), { code: 'audience_wrong' });
    const send = createOfflineGateway(planned.plan, verifier);
    const route = planned.manifest.routes[index] as RouteEntry;
    for (const listed of NAMES)
      for (const other of NAMES) {
        const members = { token: listed, other };
        const present = Object.entries(members).filter(([, name]) => name !== 'none');
        const body = Buffer.from(JSON.stringify(Object.fromEntries(present.map(([key, name]) => [key, jwt(name)]))));
        const request = { method: 'POST', target: route.path, headers: [], body: undefined };
        const { record } = await send(request, { status: 200, headers: ['Content-Type', 'application/json'], body });
        const expected = codeOfModel(route, listed, other);
        expect({ members, code: record.refusal?.code }).toEqual({ members, code: expected });
      }
  });
});

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { TokenErrorCode } from '../../../src/engine/gateway/response/refusal.ts';
import { startUpstream } from '../../support/upstream.ts';
import { type Identity, outcomeOf, sendJson, startIdentity, userinfoOf } from './identity-service.ts';
import { seconds } from './keys.ts';

const USER = { sub: 'someone', company: { role: 'user' } };

let identity: Identity;

beforeEach(async () => {
  identity = await startIdentity(USER);
});

afterEach(() => identity.close());

test('a userinfo request is a GET with the token of the caller', async () => {
  const verdict = await userinfoOf(identity.url).verify('opaque-1');
  expect(verdict).toMatchObject({ principal: { claims: USER } });
  const [{ method, url, headers, body } = {}] = identity.requests;
  expect([method, url, body?.length]).toEqual(['GET', '/me', 0]);
  expect(headers).toEqual(expect.arrayContaining(['Authorization', 'Bearer opaque-1', 'Accept', 'application/json']));
});

test('no request is sent for a token that would add a header', async () => {
  for (const token of ['a\r\nX-Role: admin', 'a b', '']) {
    expect(await outcomeOf(userinfoOf(identity.url), token)).toBe('token_malformed');
  }
  expect(identity.requests).toEqual([]);
});

describe('a userinfo response', () => {
  test.each<[string, Identity['respond'], TokenErrorCode | 'accepted']>([
    ['200', (response) => sendJson(response, USER), 'accepted'],
    ['200 with a +json type', (response) => sendJson(response, USER, 200, 'application/hal+json'), 'accepted'],
    ['200 with a charset', (response) => sendJson(response, USER, 200, 'Application/JSON; charset=utf-8'), 'accepted'],
    ['200 with a past exp', (response) => sendJson(response, { exp: seconds() - 60 }), 'token_expired'],
    ['401', (response) => sendJson(response, USER, 401), 'token_inactive'],
    ['401 without a body', (response) => void response.writeHead(401).end(), 'token_inactive'],
    ['403', (response) => sendJson(response, USER, 403), 'token_inactive'],
    ['404', (response) => sendJson(response, USER, 404), 'keys_unavailable'],
    ['201', (response) => sendJson(response, USER, 201), 'keys_unavailable'],
    ['204', (response) => void response.writeHead(204).end(), 'keys_unavailable'],
    ['206', (response) => sendJson(response, USER, 206), 'keys_unavailable'],
    ['304', (response) => void response.writeHead(304).end(), 'keys_unavailable'],
    ['500', (response) => sendJson(response, USER, 500), 'keys_unavailable'],
    ['a list', (response) => sendJson(response, [USER]), 'keys_unavailable'],
    ['null', (response) => sendJson(response, 'null'), 'keys_unavailable'],
    ['HTML', (response) => sendJson(response, '<p>log in</p>', 200, 'text/html'), 'keys_unavailable'],
    ['a signed response', (response) => sendJson(response, 'a.b.c', 200, 'application/jwt'), 'keys_unavailable'],
    ['a duplicate name', (response) => sendJson(response, '{"role":"user","role":"admin"}'), 'keys_unavailable'],
    ['300 kB', (response) => sendJson(response, { filler: 'x'.repeat(300_000) }), 'keys_unavailable'],
    ['no response', () => undefined, 'keys_unavailable'],
  ])('%s', async (name, respond, expected) => {
    identity.respond = respond;
    // Only one of these responses may time out, also on a busy machine.
    const timeout = name === 'no response' ? '300ms' : '30s';
    expect(await outcomeOf(userinfoOf(identity.url, { timeout }), 'token')).toBe(expected);
  });

  test('does not send the token to the target of a redirect', async () => {
    const other = await startUpstream((_request, response) => sendJson(response, USER));
    try {
      identity.respond = (response) => void response.writeHead(307, { location: other.url }).end();
      expect(await outcomeOf(userinfoOf(identity.url), 'token')).toBe('keys_unavailable');
      expect(other.requests).toEqual([]);
    } finally {
      await other.close();
    }
  });

  test('without a required claim is rejected', async () => {
    expect(await outcomeOf(userinfoOf(identity.url, { requiredClaims: ['sub'] }), 'a')).toBe('accepted');
    expect(await outcomeOf(userinfoOf(identity.url, { requiredClaims: ['id'] }), 'a')).toBe('claims_wrong');
  });
});

import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { TokenErrorCode } from '../../../src/engine/gateway/response/refusal.ts';
import { load } from '../../../src/engine/load.ts';
import type { VerificationResult } from '../../../src/engine/tokens/verifier.ts';
import { AUDIENCE, ISSUER, startIssuer } from '../../support/issuer.ts';
import { claims, ecKey, encode, keyFile, rsaKey, seconds, startKeysServer, tokenOf, verifierOf } from './keys.ts';

const key = ecKey('one');
const stranger = ecKey('one');
const HEADER = { alg: 'ES256', kid: 'one' };
const good = () => tokenOf(HEADER, claims(), key);

const local = verifierOf({}, keyFile(key));

function outcome(verdict: VerificationResult): TokenErrorCode | 'accepted' {
  return 'code' in verdict ? verdict.code : 'accepted';
}

async function verify(token: string, verifier = local): Promise<TokenErrorCode | 'accepted'> {
  return outcome(await verifier.verify(token));
}

afterEach(() => {
  vi.useRealTimers();
});

describe('a token with claims', () => {
  test.each<[string, Record<string, unknown>, TokenErrorCode | 'accepted']>([
    ['as they should be', {}, 'accepted'],
    ['expired', { exp: seconds() - 60 }, 'token_expired'],
    ['expired within the tolerance', { exp: seconds() - 2 }, 'accepted'],
    ['exp missing', { exp: undefined }, 'claims_wrong'],
    ['exp a string', { exp: String(seconds() + 600) }, 'claims_wrong'],
    ['exp null', { exp: null }, 'claims_wrong'],
    ['exp long ago', { exp: 0 }, 'token_expired'],
    ['exp negative', { exp: -1 }, 'token_expired'],
    ['not valid yet', { nbf: seconds() + 60 }, 'token_not_yet_valid'],
    ['not valid yet, within the tolerance', { nbf: seconds() + 2 }, 'accepted'],
    ['nbf a string', { nbf: 'soon' }, 'claims_wrong'],
    ['exp a map', { exp: { a: 1 } }, 'claims_wrong'],
    ['exp far away', { exp: 1e300 }, 'accepted'],
    ['issued in the future', { iat: seconds() + 60 }, 'token_not_yet_valid'],
    ['issued within the tolerance', { iat: seconds() + 2 }, 'accepted'],
    ['iat a string', { iat: 'now' }, 'claims_wrong'],
    ['iat missing', { iat: undefined }, 'accepted'],
    ['another issuer', { iss: 'https://evil.test' }, 'issuer_wrong'],
    ['the issuer with a slash', { iss: `${ISSUER}/` }, 'issuer_wrong'],
    ['the issuer in upper case', { iss: ISSUER.toUpperCase() }, 'issuer_wrong'],
    ['iss missing', { iss: undefined }, 'issuer_wrong'],
    ['iss a list', { iss: [ISSUER] }, 'issuer_wrong'],
    ['another audience', { aud: 'someone-else' }, 'audience_wrong'],
    ['aud missing', { aud: undefined }, 'audience_wrong'],
    ['aud empty', { aud: [] }, 'audience_wrong'],
    ['aud a list with it', { aud: ['someone-else', AUDIENCE] }, 'accepted'],
    ['aud a list without it', { aud: ['someone-else'] }, 'audience_wrong'],
    ['aud a map', { aud: { [AUDIENCE]: true } }, 'audience_wrong'],
  ])('%s', async (_name, changes, expected) => {
    expect(await verify(tokenOf(HEADER, claims(changes), key))).toBe(expected);
  });

  test('that are not a map is rejected', async () => {
    for (const payload of ['[]', '"text"', '1', 'null', 'true'])
      expect(await verify(tokenOf(HEADER, payload, key))).not.toBe('accepted');
  });

  test('gives the principal all claims and its expiry', async () => {
    const exp = seconds() + 30;
    const verdict = await local.verify(tokenOf(HEADER, claims({ exp, extra: { a: [1] } }), key));
    expect(verdict).toMatchObject({
      principal: { claims: { sub: 'someone', extra: { a: [1] } }, expiresAt: (exp + 5) * 1000 },
    });
  });

  test.each<[string, Record<string, unknown>, TokenErrorCode | 'accepted']>([
    ['there', {}, 'accepted'],
    ['there, and false', { company_role: false }, 'accepted'],
    ['one of two missing', { company_role: undefined }, 'claims_wrong'],
    ['null', { sub: null }, 'claims_wrong'],
  ])('that the manifest requires: claim %s', async (_name, changes, expected) => {
    const strict = verifierOf({ requiredClaims: ['sub', 'company_role'] }, keyFile(key));
    expect(await verify(tokenOf(HEADER, claims(changes), key), strict)).toBe(expected);
  });

  test('ignores inherited properties', async () => {
    const strict = verifierOf({ requiredClaims: ['toString'] }, keyFile(key));
    expect(await verify(good(), strict)).toBe('claims_wrong');
  });
});

describe('a token whose type is', () => {
  test.each<[string, unknown, TokenErrorCode | 'accepted']>([
    ['the configured one', 'at+jwt', 'accepted'],
    ['in capitals', 'AT+JWT', 'accepted'],
    ['in full', 'application/at+jwt', 'accepted'],
    ['another', 'JWT', 'type_wrong'],
    ['another in full', 'text/at+jwt', 'type_wrong'],
    ['longer', 'at+jwt2', 'type_wrong'],
    ['missing', undefined, 'type_wrong'],
    ['null', null, 'type_wrong'],
    ['a list', ['at+jwt'], 'type_wrong'],
  ])('%s', async (_name, typ, expected) => {
    const token = tokenOf({ ...HEADER, typ }, claims(), key);
    for (const type of ['at+jwt', 'application/at+jwt', 'At+Jwt'])
      expect(await verify(token, verifierOf({ type }, keyFile(key)))).toBe(expected);
    expect(await verify(token)).toBe('accepted');
  });
});

describe('an invalid header or claim needs no keys', () => {
  test.each<[string, string, TokenErrorCode]>([
    ['expired', tokenOf({ ...HEADER, kid: 'removed' }, claims({ exp: 1 }), key), 'token_expired'],
    [
      'of another issuer',
      tokenOf({ ...HEADER, kid: 'removed' }, claims({ iss: 'https://a.test' }), key),
      'issuer_wrong',
    ],
    ['of another audience', tokenOf(HEADER, claims({ aud: 'a' }), stranger), 'audience_wrong'],
    ['of another algorithm', tokenOf({ alg: 'RS256' }, claims(), key), 'algorithm_not_allowed'],
  ])('a token that is %s causes no fetch', async (_name, token, expected) => {
    const server = await startKeysServer(key);
    try {
      expect(await verify(token, verifierOf({ jwks: server.url }))).toBe(expected);
      expect(server.requestCount).toBe(0);
    } finally {
      await server.close();
    }
  });
});

describe('only the algorithms of the manifest are accepted', () => {
  test.each(['none', 'None', 'NONE', 'nOnE', ''])('alg %j', async (alg) => {
    const [, , signature] = good().split('.');
    const unsigned = `${encode(JSON.stringify({ ...HEADER, alg }))}.${encode(JSON.stringify(claims()))}`;
    expect(await verify(`${unsigned}.`)).toBe('token_malformed');
    expect(await verify(`${unsigned}.${signature}`)).not.toBe('accepted');
    expect(await verify(`${unsigned}.AA`)).not.toBe('accepted');
  });

  test.each([
    ['PEM', key.publicKey.export({ format: 'pem', type: 'spki' })],
    ['DER', key.publicKey.export({ format: 'der', type: 'spki' })],
    ['JWK', JSON.stringify(key.jwk)],
    ['nothing', ''],
  ])('HS256 with the public key as its secret, as %s', async (_name, secret) => {
    for (const alg of ['HS256', 'HS384', 'HS512']) {
      const input = `${encode(JSON.stringify({ ...HEADER, alg }))}.${encode(JSON.stringify(claims()))}`;
      const signature = createHmac(alg.replace('HS', 'sha'), secret).update(input).digest('base64url');
      expect(await verify(`${input}.${signature}`)).toBe('algorithm_not_allowed');
    }
  });

  test('a symmetric key in the key set verifies nothing', async () => {
    const secret = Buffer.alloc(32, 1);
    const file = JSON.stringify({
      keys: [{ kty: 'oct', kid: 'two', k: secret.toString('base64url') }, key.jwk],
    });
    const input = `${encode(JSON.stringify({ alg: 'HS256', kid: 'two' }))}.${encode(JSON.stringify(claims()))}`;
    const signature = createHmac('sha256', secret).update(input).digest('base64url');
    expect(await verify(`${input}.${signature}`, verifierOf({}, file))).toBe('algorithm_not_allowed');
    expect(await verify(tokenOf({ ...HEADER, kid: 'two' }, claims(), key), verifierOf({}, file))).toBe('key_unknown');
  });

  test.each(['ES384', 'RS256', 'PS256', 'EdDSA', 'es256', 'ES256K', 'RSA-OAEP', 'dir'])('alg %s', async (alg) => {
    expect(await verify(tokenOf({ ...HEADER, alg }, claims(), key))).toBe('algorithm_not_allowed');
  });

  test('alg missing, or not a string', async () => {
    for (const alg of [undefined, null, 1, ['ES256'], { a: 1 }])
      expect(await verify(tokenOf({ kid: 'one', alg }, claims(), key))).not.toBe('accepted');
  });

  test('another algorithm of the manifest needs a key of its own kind', async () => {
    const rsa = rsaKey('two');
    const both = verifierOf({ algorithms: ['ES256', 'RS256'] }, keyFile(key, rsa));
    expect(await verify(good(), both)).toBe('accepted');
    expect(await verify(tokenOf({ alg: 'RS256', kid: 'two' }, claims(), rsa), both)).toBe('accepted');
    expect(await verify(tokenOf({ alg: 'RS256', kid: 'one' }, claims(), key), both)).not.toBe('accepted');
    expect(await verify(tokenOf({ alg: 'ES256', kid: 'two' }, claims(), rsa), both)).not.toBe('accepted');
  });
});

describe('keys', () => {
  test('a signature of another key with the same id is rejected', async () => {
    expect(await verify(tokenOf(HEADER, claims(), stranger))).toBe('signature_wrong');
  });

  test('a signature of another token is rejected', async () => {
    const [header, , signature] = good().split('.');
    expect(await verify(`${header}.${encode(JSON.stringify(claims({ company_role: 'admin' })))}.${signature}`)).toBe(
      'signature_wrong',
    );
  });

  test('an unknown key id is rejected', async () => {
    expect(await verify(tokenOf({ ...HEADER, kid: 'nobody' }, claims(), key))).toBe('key_unknown');
    for (const kid of ['__proto__', 'toString', '../../dev/null', "' or 1=1", '']) {
      expect(await verify(tokenOf({ ...HEADER, kid }, claims(), key))).not.toBe('accepted');
    }
  });

  test('a token without a key id is verified with each key', async () => {
    const two = ecKey('two');
    const verifier = verifierOf({}, keyFile(key, two));
    for (const signer of [key, two])
      expect(await verify(tokenOf({ alg: 'ES256' }, claims(), signer), verifier)).toBe('accepted');
    expect(await verify(tokenOf({ alg: 'ES256' }, claims(), stranger), verifier)).toBe('signature_wrong');
    expect(await verify(tokenOf({ alg: 'ES256' }, claims({ exp: 1 }), two), verifier)).toBe('token_expired');
    expect(await verify(tokenOf({ alg: 'ES256' }, claims({ iss: 'x' }), two), verifier)).toBe('issuer_wrong');
  });

  test('keys without an id verify tokens without one', async () => {
    const nameless = ecKey(undefined);
    const verifier = verifierOf({}, keyFile(nameless));
    expect(await verify(tokenOf({ alg: 'ES256' }, claims(), nameless), verifier)).toBe('accepted');
  });

  test('a key in the token, or its address, is ignored', async () => {
    const server = await startKeysServer(stranger);
    try {
      const { privateKey: _privateKey, ...evil } = stranger;
      const headers = [
        { alg: 'ES256', jwk: evil.jwk },
        { ...HEADER, jwk: evil.jwk },
        { ...HEADER, jku: server.url },
        { alg: 'ES256', jku: server.url, kid: 'evil' },
        { ...HEADER, x5u: server.url },
        { ...HEADER, x5c: [evil.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')] },
        { ...HEADER, kid: server.url },
      ];
      for (const header of headers) expect(await verify(tokenOf(header, claims(), stranger))).not.toBe('accepted');
      // With its own good signature such a header changes nothing.
      expect(await verify(tokenOf({ ...HEADER, jku: server.url }, claims(), key))).toBe('accepted');
      expect(server.requestCount).toBe(0);
    } finally {
      await server.close();
    }
  });
});

/** Encodes the same bytes as another text: the last character of a part has unused bits. */
function withSpareBits(token: string, part: number): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const parts = token.split('.');
  const text = parts[part] ?? '';
  const next = alphabet[alphabet.indexOf(text.at(-1) ?? '') + 1] ?? '';
  const other = text.slice(0, -1) + next;
  if (!Buffer.from(other, 'base64url').equals(Buffer.from(text, 'base64url'))) throw new Error('no spare bits');
  return parts.with(part, other).join('.');
}

describe('an ambiguous token is malformed', () => {
  const [header = '', payload = '', signature = ''] = good().split('.');

  test('but the original is accepted', async () =>
    expect(await verify(`${header}.${payload}.${signature}`)).toBe('accepted'));

  test.each([
    ['empty', ''],
    ['one part', header],
    ['two parts', `${header}.${payload}`],
    ['an empty signature', `${header}.${payload}.`],
    ['an empty payload', `${header}..${signature}`],
    ['four parts', `${header}.${payload}.${signature}.${signature}`],
    ['five parts', `${header}.${payload}.${signature}.${signature}.${signature}`],
    ['padding', `${header}.${payload}.${signature}==`],
    ['a space before', ` ${header}.${payload}.${signature}`],
    ['a space behind', `${header}.${payload}.${signature} `],
    ['a line break behind', `${header}.${payload}.${signature}\n`],
    ['a space inside', `${header}. ${payload}.${signature}`],
    ['a tab inside', `${header}.${payload}\t.${signature}`],
    ['base64 with a plus', `${header}.${payload}.${signature.slice(0, -1)}+`],
    ['base64 with a slash', `${header}.${payload}.${signature.slice(0, -1)}/`],
    ['a NUL', `${header}.${payload}.${signature}\0`],
    ['letters that are not ASCII', `${header}.${payload}.${signature}é`],
    ['more than 8 kB', tokenOf(HEADER, claims({ filler: 'x'.repeat(8192) }), key)],
    ['spare bits in the signature', withSpareBits(good(), 2)],
    ['spare bits in the payload', withSpareBits(tokenOf(HEADER, claims({ sub: 'x' }), key), 1)],
    ['a number as its key', tokenOf({ ...HEADER, kid: 1 }, claims(), key)],
    ['null as its key', tokenOf({ ...HEADER, kid: null }, claims(), key)],
    ['the JSON serialization', JSON.stringify({ protected: header, payload, signature })],
  ])('%s', async (_name, token) => expect(await verify(token)).toBe('token_malformed'));

  test('with 8193 characters, but not with 8192', async () => {
    const tokens = new Map<number, string>();
    for (let filler = 5800; filler < 6000; filler += 1) {
      for (const pad of ['', 'x', 'xx']) {
        const token = tokenOf({ ...HEADER, pad }, claims({ filler: 'x'.repeat(filler) }), key);
        tokens.set(token.length, token);
      }
    }
    expect(await verify(tokens.get(8192) ?? '')).toBe('accepted');
    expect(tokens.get(8193)).toBeDefined();
    expect(await verify(tokens.get(8193) ?? '')).toBe('token_malformed');
  });

  test.each([
    ['header', `{"alg":"none","alg":"ES256","kid":"one"}`, JSON.stringify(claims())],
    ['header, escaped', `{"alg":"none","\\u0061lg":"ES256","kid":"one"}`, JSON.stringify(claims())],
    ['payload', JSON.stringify(HEADER), JSON.stringify(claims()).replace('{', '{"company_role":"admin",')],
    ['nested payload', JSON.stringify(HEADER), JSON.stringify(claims()).replace('{', '{"a":{"b":1,"b":2},')],
  ])('with duplicate names in the %s', async (_name, head, body) => {
    expect(await verify(tokenOf(head, body, key))).toBe('token_malformed');
  });

  test.each([
    ['invalid JSON in the header', '{alg}', JSON.stringify(claims())],
    ['invalid JSON in the payload', JSON.stringify(HEADER), 'claims'],
    ['a byte order mark', `\uFEFF${JSON.stringify(HEADER)}`, JSON.stringify(claims())],
    ['__proto__ in the header', `{"__proto__":{"alg":"ES256"},"kid":"one"}`, JSON.stringify(claims())],
    [
      '__proto__ in the payload',
      JSON.stringify(HEADER),
      JSON.stringify(claims()).replace('{', '{"__proto__":{"company_role":"admin"},'),
    ],
    [
      'a number out of range',
      JSON.stringify(HEADER),
      JSON.stringify(claims({ exp: 5 })).replace('"exp":5', '"exp":1e400'),
    ],
  ])('%s', async (_name, head, body) => expect(await verify(tokenOf(head, body, key))).toBe('token_malformed'));

  test.each([
    ['crit', { crit: ['exp'] }],
    ['crit with a known name', { crit: ['b64'], b64: true }],
    ['a payload that is not encoded', { crit: ['b64'], b64: false }],
    ['b64 without crit', { b64: false }],
    ['crit empty', { crit: [] }],
    ['crit that is not a list', { crit: 'exp' }],
  ])('%s', async (_name, extra) => {
    expect(await verify(tokenOf({ ...HEADER, ...extra }, claims(), key))).toBe('token_malformed');
  });
});

describe('the token cache', () => {
  test('holds only verified tokens', async () => {
    const verifier = verifierOf({}, keyFile(key));
    const token = good();
    expect(verifier.cached(token)).toBeUndefined();
    const verdict = await verifier.verify(token);
    expect(verifier.cached(token)).toBe('principal' in verdict && verdict.principal);
    expect(verifier.cached(`${token}A`)).toBeUndefined();
    expect(verifier.cached(token.slice(0, -1))).toBeUndefined();
    for (const bad of [
      tokenOf(HEADER, claims({ exp: 1 }), key),
      tokenOf(HEADER, claims({ iat: seconds() + 60 }), key),
      tokenOf(HEADER, claims(), stranger),
    ]) {
      expect(await verify(bad, verifier)).not.toBe('accepted');
      expect(verifier.cached(bad)).toBeUndefined();
    }
  });

  test('drops a token at its expiry, including the tolerance', async () => {
    const verifier = verifierOf({ cache: { maxAge: '10m' } }, keyFile(key));
    const exp = seconds() + 60;
    const token = tokenOf(HEADER, claims({ exp }), key);
    expect(await verify(token, verifier)).toBe('accepted');
    vi.useFakeTimers({ toFake: ['Date'] });
    vi.setSystemTime((exp + 4) * 1000);
    expect(verifier.cached(token)).toBeDefined();
    vi.setSystemTime((exp + 5) * 1000);
    expect(verifier.cached(token)).toBeUndefined();
    vi.setSystemTime((exp + 6) * 1000);
    expect(await verify(token, verifier)).toBe('token_expired');
  });

  test('is not shared by two verifiers', async () => {
    const one = verifierOf({}, keyFile(key));
    const other = verifierOf({ audience: 'someone-else' }, keyFile(key));
    const token = good();
    await one.verify(token);
    expect(other.cached(token)).toBeUndefined();
  });
});

test('the issuer of the test support is accepted', async () => {
  const issuer = await startIssuer();
  try {
    const verifier = verifierOf({ jwks: issuer.jwksUrl });
    expect(await verify(await issuer.token(), verifier)).toBe('accepted');
    expect(await verify(await issuer.token({ exp: seconds() - 60 }), verifier)).toBe('token_expired');
    expect(issuer.fetches).toBe(1);
  } finally {
    await issuer.close();
  }
});

describe('a reload', () => {
  const files = { one: keyFile(key), two: keyFile(ecKey('two')) };
  const manifest = (changes: object = {}, listen = '127.0.0.1:8080') => {
    const jwt = { jwks: './keys.json', algorithms: ['ES256', 'RS256'], issuer: ISSUER, audience: AUDIENCE, ...changes };
    return JSON.stringify({
      version: 1,
      listen,
      upstreams: { up: { url: 'http://127.0.0.1:1' } },
      auth: { tokens: { jwt }, role: { claim: '/company_role', allow: ['user'], message: 'no' } },
      routes: [{ id: 'all', method: 'any', path: '/**', upstream: 'up', access: 'protected' }],
    });
  };
  const planOf = (text: string, file = files.one, previous?: ReturnType<typeof load>['plan']) => {
    const { plan, problems } = load({ path: 'g', text }, { env: {}, readFile: () => file }, previous);
    if (plan?.auth === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
    return { plan, verifier: plan.auth.verifier };
  };
  const before = planOf(manifest());

  test('reuses the verifier if its definition did not change', () => {
    expect(planOf(manifest(), files.one, before.plan).verifier).toBe(before.verifier);
    expect(planOf(manifest({}, '127.0.0.1:9090'), files.one, before.plan).verifier).toBe(before.verifier);
  });

  test.each([
    ['issuer', { issuer: 'https://other.test' }],
    ['audience', { audience: 'other' }],
    ['tolerance', { clockTolerance: '1s' }],
    ['place of the keys', { jwks: 'http://127.0.0.1:1/keys' }],
    ['type', { type: 'at+jwt' }],
    ['trust', { cache: { maxAge: '1s' } }],
  ])('but not one that changed the %s', (_name, changes) => {
    expect(planOf(manifest(changes), files.one, before.plan).verifier).not.toBe(before.verifier);
  });

  test('creates a verifier if the key file changed', async () => {
    const after = planOf(manifest(), files.two, before.plan);
    expect(after.verifier).not.toBe(before.verifier);
    const token = good();
    expect(outcome(await before.verifier.verify(token))).toBe('accepted');
    expect(after.verifier.cached(token)).toBeUndefined();
    expect(outcome(await after.verifier.verify(token))).toBe('key_unknown');
  });

  test('creates a verifier if there is no active one', () => {
    expect(planOf(manifest()).verifier).not.toBe(before.verifier);
  });

  test.each([
    ['no JSON', 'keys', 'it is not a JWKS'],
    ['an empty file', '', 'it is not a JWKS'],
    ['a list', '[]', 'it is not a JWKS'],
    ['null', 'null', 'it is not a JWKS'],
    ['one key without a list', JSON.stringify(key.jwk), 'it is not a JWKS'],
    ['no keys', '{"keys":[]}', 'no key in it supports one of the algorithms'],
    ['a key without its type', '{"keys":[{"kid":"one"}]}', 'no key in it supports one of the algorithms'],
    ['keys that are none', '{"keys":[1]}', 'its key 1 is not a map'],
    ['a weak key', keyFile(key, rsaKey('weak', 1024)), 'its key 2 has fewer than 2048 bits'],
    ['a key too many', JSON.stringify({ keys: Array(101).fill(key.jwk) }), 'it has more than 100 keys'],
  ])('a key file with %s is a problem at its line', (_name, file, expected) => {
    const { plan, problems } = load({ path: 'g', text: manifest() }, { env: {}, readFile: () => file });
    expect(plan).toBeUndefined();
    expect(problems.map(({ rule, message }) => `${rule} ${message}`)).toEqual([
      expect.stringContaining(`jwks the key file cannot be used: ${expected}`),
    ]);
  });

  test.each([
    ['ENOENT', 'it does not exist; write a path relative to the manifest, or a URL'],
    ['EACCES', 'its permissions do not allow it; let the user of the gateway read it'],
    ['EISDIR', 'it is a folder; name a file in it'],
    ['EIO', 'EIO; write the path of a file relative to the manifest'],
  ])('a key file that cannot be read (%s) is a problem', (code, expected) => {
    const readFile = () => {
      throw Object.assign(new Error('/secret/place'), { code });
    };
    const { problems } = load({ path: 'g', text: manifest() }, { env: {}, readFile });
    expect(problems.map(({ message }) => message)).toEqual([`the key file cannot be read: ${expected}`]);
    expect(problems[0]?.message).not.toContain('/secret/place');
  });
});

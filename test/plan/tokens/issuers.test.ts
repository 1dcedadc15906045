import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { subjectOf, type VerificationResult, type Verifier } from '../../../src/engine/tokens/verifier.ts';
import { type Identity, sendJson, startIdentity } from './identity-service.ts';
import { claims, ecKey, encode, keyFile, manifestFor, rsaKey, type SigningKey, tokenOf, verifierOf } from './keys.ts';

/** The keys of all issuers have one id, so that nothing but the issuer tells them apart. */
const KID = 'one';
const KEYS: Readonly<Record<string, SigningKey>> = { staff: ecKey(KID), partners: ecKey(KID), machines: rsaKey(KID) };
const SECRETS: Readonly<Record<string, string>> = { devices: 'd'.repeat(64), guests: 'g'.repeat(64) };
const ENV = { DEVICES: SECRETS['devices'] as string, GUESTS: SECRETS['guests'] as string, CLIENT: 'hidden' };

const jwt = (name: string, more: object) => ({
  name,
  jwt: { issuer: `https://${name}.test`, audience: ['signing', 'mobile'], ...more },
});
const jwks = (key: SigningKey | undefined) => JSON.parse(keyFile(key as SigningKey));
/** The twins have the keys of the staff. */
const JWTS = [
  jwt('staff', { algorithms: ['ES256'], jwks: jwks(KEYS['staff']) }),
  jwt('twins', { algorithms: ['ES256'], jwks: jwks(KEYS['staff']) }),
  jwt('partners', { algorithms: ['ES256'], jwks: jwks(KEYS['partners']) }),
  jwt('machines', { algorithms: ['RS256'], jwks: jwks(KEYS['machines']) }),
  jwt('devices', { algorithms: ['HS256'], secret: '${DEVICES}' }),
  jwt('guests', { algorithms: ['HS256'], secret: '${GUESTS}' }),
];
const NAMES = JWTS.map(({ name }) => name);
const ALL = new Set([...NAMES, 'sessions']);

/** The issuers whose tokens a key verifies, and its algorithm. */
const SIGNERS: Readonly<Record<string, { readonly algorithm: string; readonly of: readonly string[] }>> = {
  staff: { algorithm: 'ES256', of: ['staff', 'twins'] },
  partners: { algorithm: 'ES256', of: ['partners'] },
  machines: { algorithm: 'RS256', of: ['machines'] },
  devices: { algorithm: 'HS256', of: ['devices'] },
  guests: { algorithm: 'HS256', of: ['guests'] },
};

let identity: Identity;
let verifier: Verifier;
let without: Verifier;

const sessionsOf = (url: string) => ({
  name: 'sessions',
  introspection: { endpoint: `${url}/introspect`, clientId: 'gateway', clientSecret: '${CLIENT}' },
});
const verifierIn = (tokens: object, previous?: ReturnType<typeof manifestFor>) =>
  manifestFor(tokens, { env: ENV }, previous?.plan).plan.auth?.verifier as Verifier;

beforeAll(async () => {
  identity = await startIdentity();
  verifier = verifierIn([...JWTS, sessionsOf(identity.url)]);
  without = verifierIn(JWTS);
});

beforeEach(() => {
  identity.requests.length = 0;
  identity.respond = (response) => sendJson(response, { active: false });
});

afterAll(() => identity.close());

function signed(signer: string, header: object, payload: unknown): string {
  const key = KEYS[signer];
  if (key !== undefined) return tokenOf(header, payload, key);
  const input = [header, payload].map((part) => encode(JSON.stringify(part))).join('.');
  return `${input}.${createHmac('sha256', SECRETS[signer] as string)
    .update(input)
    .digest('base64url')}`;
}

const claimsOf = (issuer: string, more: object = {}) =>
  claims({ iss: `https://${issuer}.test`, aud: 'signing', ...more });

function describeResult(result: VerificationResult): string {
  return 'code' in result ? result.code : `accepted by ${result.principal.issuer}`;
}

const verify = async (token: string, issuers: ReadonlySet<string> = ALL, by = verifier) =>
  describeResult(await by.verify(token, undefined, issuers));

describe('a token', () => {
  const algorithms = ['ES256', 'RS256', 'HS256', 'ES384', 'none'];
  const keyIds = [KID, undefined, 'other'];
  const rows = Object.keys(SIGNERS).flatMap((signer) => NAMES.map((issuer) => [signer, issuer] as const));

  test.each(rows)(
    'that %s signed for the issuer of %s is accepted by that method only, or by none',
    async (signer, issuer) => {
      const { algorithm: own, of } = SIGNERS[signer] as (typeof SIGNERS)[string];
      for (const algorithm of algorithms)
        for (const kid of keyIds) {
          const token = signed(signer, { alg: algorithm, ...(kid && { kid }) }, claimsOf(issuer));
          const isSecret = signer in SECRETS;
          const isGood = of.includes(issuer) && algorithm === own && (kid !== 'other' || isSecret);
          const expected = isGood ? `accepted by ${issuer}` : expect.stringMatching(/^(?!accepted|keys_)/);
          expect([algorithm, kid, await verify(token)]).toEqual([algorithm, kid, expected]);
          // No other method accepts it, whatever a route accepts.
          for (const other of NAMES.filter((name) => name !== issuer)) {
            expect(await verify(token, new Set([other, 'sessions']))).toBe('issuer_wrong');
            expect(verifier.cached(token, new Set([other, 'sessions']))).toBeUndefined();
          }
          expect(verifier.cached(token, new Set([issuer]))?.issuer).toBe(isGood ? issuer : undefined);
        }
      expect(identity.requests.length).toBe(0);
    },
  );

  test('signed with the public key of another issuer as a secret is refused', async () => {
    for (const secret of [
      jwks(KEYS['staff']).keys[0],
      KEYS['staff']?.publicKey.export({ type: 'spki', format: 'pem' }),
    ]) {
      const input = [{ alg: 'HS256', kid: KID }, claimsOf('devices')]
        .map((part) => encode(JSON.stringify(part)))
        .join('.');
      const text = typeof secret === 'string' ? secret : JSON.stringify(secret);
      const token = `${input}.${createHmac('sha256', text).update(input).digest('base64url')}`;
      expect(await verify(token)).toBe('signature_wrong');
    }
  });

  test('with any of several audiences is accepted, and with another one is not', async () => {
    const token = (aud: unknown) => signed('staff', { alg: 'ES256', kid: KID }, claimsOf('staff', { aud }));
    expect(await verify(token('mobile'))).toBe('accepted by staff');
    expect(await verify(token(['other', 'mobile']))).toBe('accepted by staff');
    expect(await verify(token('other'))).toBe('audience_wrong');
    expect(await verify(token(['other', ['signing']]))).toBe('audience_wrong');
    expect(await verify(token([]))).toBe('audience_wrong');
  });

  test('that names a listed issuer in an unusual form never reaches the introspection', async () => {
    const good = signed('staff', { alg: 'ES256', kid: KID }, claimsOf('staff'));
    const [header = '', payload = '', signature = ''] = good.split('.');
    const issuer = '"iss":"https://staff.test"';
    const twice = encode(`{"iss":"https://unknown.test",${issuer}}`);
    const escaped = encode('{"i\\u0073s":"https:\\/\\/staff.test"}');
    for (const token of [
      `${header}.${twice}.${signature}`,
      `${header}.${escaped}.${signature}`,
      `${header}.${payload}==.${signature}`,
      `x.${payload}.x`,
      `.${payload}.`,
    ])
      expect(await verify(token)).toMatch(/^(?!accepted)/);
    expect(identity.requests.length).toBe(0);
  });

  test.each([
    ['of an unknown issuer', signed('staff', { alg: 'ES256', kid: KID }, claimsOf('unknown')), 'issuer_wrong'],
    [
      'whose issuer is a list',
      signed('staff', { alg: 'ES256', kid: KID }, claimsOf('x', { iss: ['https://staff.test'] })),
      'token_malformed',
    ],
    [
      'without an issuer',
      signed('staff', { alg: 'ES256', kid: KID }, claimsOf('x', { iss: undefined })),
      'token_malformed',
    ],
    ['that is opaque', 'opaque', 'token_malformed'],
    ['of five parts', 'a.b.c.d.e', 'token_malformed'],
    [
      'of an issuer with a slash',
      signed('staff', { alg: 'ES256', kid: KID }, claimsOf('x', { iss: 'https://staff.test/' })),
      'issuer_wrong',
    ],
  ])('%s goes to the introspection, and nowhere without one', async (_name, token, code) => {
    expect(await verify(token, ALL, without)).toBe(code);
    identity.respond = (response) => sendJson(response, { active: true, sub: 'a', iss: 'https://sessions.test' });
    expect(await verify(token, new Set(NAMES))).toBe('issuer_wrong');
    expect(identity.requests.length).toBe(0);
    expect(await verify(token)).toBe('accepted by sessions');
    expect(verifier.cached(token, ALL)?.issuer).toBe('sessions');
    expect(verifier.cached(token, new Set(NAMES))).toBeUndefined();
  });
});

test.each([
  ['https://staff.test', 'issuer_wrong'],
  [['https://staff.test'], 'issuer_wrong'],
  [5, 'issuer_wrong'],
  [null, 'accepted by sessions'],
  ['https://staff.test/', 'accepted by sessions'],
])('an introspection that names the issuer %j is %s', async (iss, expected) => {
  identity.respond = (response) => sendJson(response, { active: true, sub: 'a', iss });
  const token = `of-${JSON.stringify(iss)}`.replaceAll(/[^a-z]/g, '-');
  expect(await verify(token)).toBe(expected);
  expect(verifier.cached(token, ALL) === undefined).toBe(expected === 'issuer_wrong');
});

describe('a verifier of several methods', () => {
  test('accepts nothing if nobody says whose tokens are accepted', async () => {
    const token = signed('staff', { alg: 'ES256', kid: KID }, claimsOf('staff'));
    expect(describeResult(await verifier.verify(token))).toBe('issuer_wrong');
    expect(await verify(token)).toBe('accepted by staff');
    expect(verifier.cached(token)).toBeUndefined();
  });

  test('that gets one more issuer no longer uses what the introspection has accepted of it', async () => {
    const old = manifestFor([...JWTS.slice(0, 1), sessionsOf(identity.url)], { env: ENV });
    const token = signed('partners', { alg: 'ES256', kid: KID }, claimsOf('partners', { exp: 1 }));
    identity.respond = (response) => sendJson(response, { active: true, sub: 'a' });
    const before = old.plan.auth?.verifier as Verifier;
    expect(await verify(token, ALL, before)).toBe('accepted by sessions');
    const after = verifierIn([...JWTS.slice(0, 3), sessionsOf(identity.url)], old);
    expect(after.methods.at(-1)).toBe(before.methods.at(-1));
    expect(after.methods[0]).toBe(before.methods[0]);
    expect(after.cached(token, ALL)).toBeUndefined();
    expect(await verify(token, ALL, after)).toBe('token_expired');
  });

  test('counts one hit for a cached token, and one miss for another, of the method that it names', async () => {
    const counted = verifierIn([...JWTS.slice(0, 3), sessionsOf(identity.url)]);
    const token = signed('partners', { alg: 'ES256', kid: KID }, claimsOf('partners'));
    const counts = () => counted.methods.map(({ status: { hits, misses } }) => `${hits}/${misses}`).join(' ');
    expect(counted.cached(token, ALL)).toBeUndefined();
    expect(counts()).toBe('0/0 0/0 0/1 0/0');
    await verify(token, ALL, counted);
    expect(counted.cached(token, ALL)?.issuer).toBe('partners');
    expect(counts()).toBe('0/0 0/0 1/1 0/0');
    expect(counted.cached(token, new Set(['staff']))).toBeUndefined();
    expect(counts()).toBe('0/0 0/0 1/1 0/0');
  });

  test('of one method is that of a manifest without a list', async () => {
    const [only] = JWTS;
    const single = manifestFor({ jwt: only?.jwt }, { env: ENV });
    const listed = verifierIn([only], single);
    expect(listed).toBe(single.plan.auth?.verifier);
    const result = await listed.verify(signed('staff', { alg: 'ES256', kid: KID }, claimsOf('staff')));
    expect(result).toMatchObject({ principal: { subject: subjectOf({ sub: 'someone' }, undefined) } });
    expect('principal' in result && result.principal.issuer).toBeUndefined();
  });

  test('gives subjects of one name at two issuers two pseudonyms', async () => {
    const subjects = await Promise.all(
      ['staff', 'twins'].map(async (issuer) => {
        const token = signed('staff', { alg: 'ES256', kid: KID }, claimsOf(issuer));
        const result = await verifier.verify(token, undefined, ALL);
        return 'principal' in result ? result.principal.subject : undefined;
      }),
    );
    expect(new Set([...subjects, subjectOf({ sub: 'someone' }, undefined)]).size).toBe(3);
  });

  test('has the keys of each method', () => {
    expect(verifier.methods.map(({ name, status }) => [name, status.keys])).toEqual([
      ...NAMES.map((name) => [name, 'known']),
      ['sessions', 'none'],
    ]);
  });
});

test('open connections of a route depend on the methods that it accepts, and on all of them if one takes the tokens of no other', () => {
  const keyOf = (...tokens: object[]) => manifestFor(tokens, { env: ENV }).plan.routes[0]?.auth?.tokensKey;
  const [staff = {}, twins = {}, partners = {}] = JWTS;
  expect(keyOf(staff, partners, twins)).toBe(keyOf(staff, partners));
  expect(keyOf(staff, sessionsOf(identity.url))).toBe(keyOf(staff, partners));
  expect(keyOf(partners, staff)).not.toBe(keyOf(staff, partners));
  expect(keyOf(staff, jwt('partners', { algorithms: ['HS256'], secret: '${GUESTS}' }))).toBe(keyOf(staff, partners));
  const sessions = sessionsOf(identity.url);
  expect(keyOf(sessions, staff, partners)).not.toBe(keyOf(sessions, staff));
});

test('one method needs one of several audiences too', async () => {
  const key = KEYS['staff'] as SigningKey;
  const local = verifierOf({ audience: ['signing', 'mobile'] }, keyFile(key));
  const token = (aud: unknown) => tokenOf({ alg: 'ES256', kid: KID }, claims({ aud }), key);
  expect(describeResult(await local.verify(token('mobile')))).toBe('accepted by undefined');
  expect(describeResult(await local.verify(token('other')))).toBe('audience_wrong');
});

import { constants, createHmac, createSecretKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isSignedBy } from '../../../src/engine/tokens/jwt.ts';
import { readKeySet } from '../../../src/engine/tokens/key-set.ts';
import { outcomeOf } from './identity-service.ts';
import { claims, encode, verifierOf } from './keys.ts';

interface Vector {
  readonly source: string;
  readonly algorithm: string;
  readonly key: { readonly kty: string; readonly kid?: string; readonly k?: string };
  readonly jws: string;
}

const vectors: Vector[] = JSON.parse(readFileSync(new URL('rfc-vectors.json', import.meta.url), 'utf8'));

describe('the examples of the RFCs', () => {
  const keysOf = ({ key, algorithm }: Vector): readonly KeyObject[] =>
    key.k === undefined
      ? readKeySet({ keys: [key] }, [algorithm]).keys.findKeys(key.kid, algorithm)
      : [createSecretKey(Buffer.from(key.k, 'base64url'))];

  test.each(vectors.map((vector) => [vector.source, vector] as const))('%s', async (_source, vector) => {
    const [key] = keysOf(vector);
    if (key === undefined) throw new Error('the key is not used');
    expect(await isSignedBy(key, vector.jws, vector.algorithm)).toBe(true);
    for (let index = 0; index < vector.jws.length; index += 17) {
      const changed =
        vector.jws.slice(0, index) + (vector.jws[index] === 'A' ? 'Q' : 'A') + vector.jws.slice(index + 1);
      expect([index, await isSignedBy(key, changed, vector.algorithm)]).toEqual([index, false]);
    }
    for (const other of ['HS256', 'HS384', 'RS256', 'PS256', 'PS384', 'ES256', 'ES512', 'EdDSA', 'none', ''])
      if (other !== vector.algorithm) expect([other, await isSignedBy(key, vector.jws, other)]).toEqual([other, false]);
  });
});

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ed = generateKeyPairSync('ed25519');
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
const [p256, p384, p521] = [ec('P-256'), ec('P-384'), ec('P-521')];
const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
const raw = { dsaEncoding: 'ieee-p1363' } as const;
const SECRET = 'sixty-four bytes of a secret that is shared with an issuer, no less';

/** Signs with each algorithm (RFC 7518 section 3.1, RFC 8037 section 3.1), with node:crypto only. */
const SIGNERS: Readonly<Record<string, (input: Buffer) => Buffer>> = {
  RS256: (input) => sign('sha256', input, rsa.privateKey),
  RS384: (input) => sign('sha384', input, rsa.privateKey),
  RS512: (input) => sign('sha512', input, rsa.privateKey),
  PS256: (input) => sign('sha256', input, { key: rsa.privateKey, ...pss }),
  PS384: (input) => sign('sha384', input, { key: rsa.privateKey, ...pss }),
  PS512: (input) => sign('sha512', input, { key: rsa.privateKey, ...pss }),
  ES256: (input) => sign('sha256', input, { key: p256.privateKey, ...raw }),
  ES384: (input) => sign('sha384', input, { key: p384.privateKey, ...raw }),
  ES512: (input) => sign('sha512', input, { key: p521.privateKey, ...raw }),
  EdDSA: (input) => sign(null, input, ed.privateKey),
  Ed25519: (input) => sign(null, input, ed.privateKey),
  HS256: (input) => createHmac('sha256', SECRET).update(input).digest(),
  HS384: (input) => createHmac('sha384', SECRET).update(input).digest(),
  HS512: (input) => createHmac('sha512', SECRET).update(input).digest(),
};
const NAMES = Object.keys(SIGNERS);
const PUBLIC = NAMES.filter((name) => !name.startsWith('HS'));
const HMAC = NAMES.filter((name) => name.startsWith('HS'));

const file = JSON.stringify({
  keys: [rsa, p256, p384, p521, ed].map(({ publicKey }) => publicKey.export({ format: 'jwk' })),
});

/** Signs a token with an algorithm that may differ from its header. */
function tokenWithAlgorithm(algorithm: string, signedBy: string): string {
  const input = [{ alg: algorithm }, claims()].map((part) => encode(JSON.stringify(part))).join('.');
  return `${input}.${SIGNERS[signedBy]?.(Buffer.from(input)).toString('base64url')}`;
}

/** The two names of one algorithm. */
const isSame = (a: string, b: string) => a === b || (/^Ed/.test(a) && /^Ed/.test(b));

describe('a token with the algorithm', () => {
  const byKeys = verifierOf({ algorithms: PUBLIC }, file);
  const bySecret = verifierOf({ algorithms: HMAC, secret: '${SECRET}' }, undefined, { SECRET });

  test.each(NAMES)('%s verifies only with a signature of that algorithm', async (algorithm) => {
    const [own, other] = PUBLIC.includes(algorithm) ? [byKeys, bySecret] : [bySecret, byKeys];
    for (const signedBy of NAMES) {
      const token = tokenWithAlgorithm(algorithm, signedBy);
      const expected = isSame(algorithm, signedBy) ? 'accepted' : 'signature_wrong';
      expect([signedBy, await outcomeOf(own, token)]).toEqual([signedBy, expected]);
      expect(await outcomeOf(other, token)).toBe('algorithm_not_allowed');
    }
  });

  test.each(NAMES)('%s is rejected by a manifest without it', async (name) => {
    const isPublic = PUBLIC.includes(name);
    const algorithms = (isPublic ? PUBLIC : HMAC).filter((other) => other !== name);
    const verifier = isPublic
      ? verifierOf({ algorithms }, file)
      : verifierOf({ algorithms, secret: '${SECRET}' }, undefined, { SECRET });
    expect(await outcomeOf(verifier, tokenWithAlgorithm(name, name))).toBe('algorithm_not_allowed');
  });
});

describe('a shared secret', () => {
  const verifierBy = (secret: string, algorithms = ['HS256']) =>
    verifierOf({ algorithms, secret: '${SECRET}' }, undefined, { SECRET: secret });

  test('does not verify tokens of another secret', async () => {
    expect(await outcomeOf(verifierBy(`${SECRET}.`), tokenWithAlgorithm('HS256', 'HS256'))).toBe('signature_wrong');
    expect(await outcomeOf(verifierBy(SECRET.slice(0, 32)), tokenWithAlgorithm('HS256', 'HS256'))).toBe(
      'signature_wrong',
    );
  });

  test('verifies a token with any key id', async () => {
    const input = [{ alg: 'HS256', kid: 'any' }, claims()].map((part) => encode(JSON.stringify(part))).join('.');
    const token = `${input}.${SIGNERS['HS256']?.(Buffer.from(input)).toString('base64url')}`;
    expect(await outcomeOf(verifierBy(SECRET), token)).toBe('accepted');
  });

  test.each([
    ['HS256', 32],
    ['HS384', 48],
    ['HS512', 64],
  ])('for %s has at least %i bytes', async (algorithm, bytes) => {
    expect(() => verifierBy('x'.repeat(bytes), [algorithm])).not.toThrow();
    expect(() => verifierBy('ä'.repeat(bytes / 2), [algorithm])).not.toThrow();
    expect(() => verifierBy('x'.repeat(bytes - 1), [algorithm])).toThrow(
      `"${algorithm}" needs a secret of ${bytes} bytes`,
    );
  });

  test('that is too short is not printed', () => {
    expect(() => verifierBy('s3cr3t')).toThrow(/^((?!s3cr3t).)*$/s);
  });
});

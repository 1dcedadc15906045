import { describe, expect, test } from 'vitest';
import { readKeySet } from '../../../src/engine/tokens/key-set.ts';
import { ecKey, rsaKey } from './keys.ts';

const ALL = ['ES256', 'ES384', 'ES512', 'RS256', 'PS256', 'EdDSA'];
const ec = ecKey('ec').jwk;
const other = ecKey('ec').jwk;
const rsa = rsaKey('rsa').jwk;
const p384 = ecKey('p384', 'P-384').jwk;

/** Returns how many keys match an id and an algorithm, and the reasons for rejected keys. */
function read(keys: unknown[], name: string | undefined, algorithm: string, algorithms = ALL) {
  const { keys: set, rejected } = readKeySet({ keys }, algorithms);
  return [set.findKeys(name, algorithm).length, rejected.map(({ index, reason }) => `${index} ${reason}`)];
}

describe('readKeySet uses a key', () => {
  test.each<[string, object, string, string]>([
    ['as it is', ec, 'ec', 'ES256'],
    ['for signatures', { ...ec, use: 'sig' }, 'ec', 'ES256'],
    ['to verify', { ...ec, key_ops: ['verify'] }, 'ec', 'ES256'],
    ['for its algorithm', { ...ec, alg: 'ES256' }, 'ec', 'ES256'],
    ['with unknown members', { ...ec, x5c: ['AA'], extra: 1 }, 'ec', 'ES256'],
    ['on another curve', p384, 'p384', 'ES384'],
    ['of RSA', rsa, 'rsa', 'PS256'],
  ])('%s', (_name, jwk, name, algorithm) => expect(read([jwk], name, algorithm)).toEqual([1, []]));

  test('by its id, or without an id', () => {
    expect(read([ec, p384], 'ec', 'ES256')).toEqual([1, []]);
    expect(read([ec, p384], undefined, 'ES256')).toEqual([1, []]);
    expect(read([ec, { ...other, kid: undefined }], undefined, 'ES256')).toEqual([2, []]);
    expect(read([{ ...ec, kid: undefined }], 'ec', 'ES256')).toEqual([0, []]);
    for (const name of ['EC', 'ec ', '', '__proto__', 'toString']) expect(read([ec], name, 'ES256')).toEqual([0, []]);
  });
});

describe('readKeySet ignores a key', () => {
  test.each<[string, object, string]>([
    ['for encryption', { ...ec, use: 'enc' }, 'ES256'],
    ['for an unknown use', { ...ec, use: 1 }, 'ES256'],
    ['to sign', { ...ec, key_ops: ['sign'] }, 'ES256'],
    ['for operations that are not a list', { ...ec, key_ops: 'verify' }, 'ES256'],
    ['for another algorithm', { ...rsa, alg: 'PS256' }, 'RS256'],
    ['for an algorithm of another curve', { ...p384, alg: 'ES256' }, 'ES256'],
    ['on the wrong curve', p384, 'ES256'],
    ['on a curve that is not NIST’s', { ...ec, crv: 'secp256k1' }, 'ES256'],
    ['of another type', rsa, 'ES256'],
    ['of an unknown type', { ...ec, kty: 'AKP' }, 'ES256'],
    ['with an inherited property as its type', { kty: '__proto__' }, 'ES256'],
    ['that is a secret', { kty: 'oct', k: 'AAAA' }, 'ES256'],
  ])('%s', (_name, jwk, algorithm) => expect(read([jwk], undefined, algorithm)).toEqual([0, []]));

  test('that the manifest has no algorithm for', () => {
    expect(read([ec, rsa], undefined, 'ES256', ['RS256'])).toEqual([0, []]);
  });
});

describe('readKeySet rejects a key', () => {
  const { d: _d, ...publicRsa } = rsa;
  test.each<[string, unknown, string]>([
    ['of 1024 bits', rsaKey('weak', 1024).jwk, 'has fewer than 2048 bits'],
    ['of 2047 bits', rsaKey('weak', 2047).jwk, 'has fewer than 2048 bits'],
    ['with the exponent 1', { ...publicRsa, e: 'AQ' }, 'has an insecure public exponent'],
    ['with the exponent 0', { ...publicRsa, e: 'AA' }, 'has an insecure public exponent'],
    ['with an even exponent', { ...publicRsa, e: 'BA' }, 'has an insecure public exponent'],
    ['without its members', { kty: 'RSA' }, 'is malformed'],
    ['off its curve', { ...ec, y: ec.x }, 'is malformed'],
    ['with members that are numbers', { ...ec, x: 1 }, 'is malformed'],
    ['with an id that is not a string', { ...ec, kid: 1 }, 'has a "kid" that is not a string'],
    ['that is private', { ...ec, d: 'AA' }, 'is a private key; write its public members only'],
    ['that is not a map', 'key', 'is not a map'],
    ['that is null', null, 'is not a map'],
  ])('%s', (_name, jwk, reason) => expect(read([ec, jwk], 'ec', 'ES256')).toEqual([1, [`1 ${reason}`]]));
});

describe('a key id', () => {
  test('that two keys share matches neither', () => {
    expect(read([ec, other, p384], 'ec', 'ES256')).toEqual([0, ['1 has the "kid" of another key']]);
    expect(read([ec, other, p384], undefined, 'ES256')).toEqual([0, ['1 has the "kid" of another key']]);
    expect(read([ec, other, p384], 'p384', 'ES384')).toEqual([1, ['1 has the "kid" of another key']]);
  });

  test('of the same key twice is valid', () => {
    expect(read([ec, ec], 'ec', 'ES256')[1]).toEqual([]);
  });

  test('may belong to keys of two types', () => {
    expect(read([ec, { ...rsa, kid: 'ec' }], 'ec', 'ES256')).toEqual([1, []]);
    expect(read([ec, { ...rsa, kid: 'ec' }], 'ec', 'RS256')).toEqual([1, []]);
  });
});

test.each([undefined, null, 1, 'keys', [], [ec], {}, { keys: {} }, { keys: null }, { KEYS: [] }])(
  '%j is not a key set',
  (value) => expect(() => readKeySet(value, ALL)).toThrow('it is not a JWKS'),
);

test('a set has at most a hundred keys', () => {
  expect(readKeySet({ keys: Array(100).fill(ec) }, ALL).rejected).toEqual([]);
  expect(() => readKeySet({ keys: Array(101).fill(ec) }, ALL)).toThrow('it has more than 100 keys');
});

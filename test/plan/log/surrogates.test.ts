import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Surrogates } from '../../../src/engine/log/surrogates.ts';
import { shapeKey, shapeOf } from '../../../src/engine/log/value-shape.ts';

const SECRET = 'a secret of the log, with enough characters';
const surrogates = new Surrogates(SECRET);

describe('a surrogate', () => {
  it.each([
    ['f47ac10b-58cc-4372-a567-0e02b2c3d479', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/],
    ['F47AC10B-58CC-1372-8567-0E02B2C3D479', /^[0-9A-F]{8}-[0-9A-F]{4}-1[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}$/],
    ['20240517', /^[1-9]\d{7}$/],
    ['0042', /^0\d{3}$/],
    ['-17', /^-[1-9]\d$/],
    ['deadbeef01', /^(?=.*\d)(?=.*[a-f])[0-9a-f]{10}$/],
    ['anna.schmidt@example.com', /^[a-z]{4}\.[a-z]{7}@[a-z]{7}\.[a-z]{3}$/],
    ['Anna%40example.com', /^[A-Z][a-z]{3}%40[a-z]{7}\.[a-z]{3}$/],
    ['aBc1.DeF-_x', /^[a-z][A-Z][a-z]\d\.[A-Z][a-z][A-Z]-_[a-z]$/],
    ['report-final.pdf', /^[a-z]{6}-[a-z]{5}\.pdf$/],
    ['doc_a1b2c3d4e5', /^doc_[a-z0-9]{10}$/],
    ['INV000123', /^INV0\d{5}$/],
    ['INV-2024-0001', /^INV-[1-9]\d{3}-0\d{3}$/],
    ['M%C3%BCller', /^[A-Z]%C3%[AB][0-9A-F][a-z]{4}$/],
    ['%e6%9d%8e%e6%98%8e', /^(?:%e4%b[89ab]%[89ab][0-9a-f]){2}$/],
    ['a%20b%2Fc', /^[a-z]%20[a-z]%2F[a-z]$/],
  ])('of %s has the same shape', (value, shape) => {
    const surrogate = surrogates.of(value);
    expect(surrogate).toMatch(shape);
    expect(surrogate).not.toBe(value);
    expect(surrogates.of(value)).toBe(surrogate);
  });

  it.each(['-', '~', '0', '%20', '%F0%9F%98%80'])('of %s, which has no identifier, is the same', (value) => {
    expect(surrogates.of(value)).toBe(value);
  });

  it('depends on the secret and on nothing else', () => {
    const values = ['f47ac10b-58cc-4372-a567-0e02b2c3d479', '20240517', 'doc_a1b2c3d4e5', 'x'.repeat(40)];
    for (const value of values) {
      expect(new Surrogates(SECRET).of(value)).toBe(surrogates.of(value));
      expect(new Surrogates(`${SECRET}.`).of(value)).not.toBe(surrogates.of(value));
    }
  });

  it('never belongs to two values, and never is the value itself', () => {
    const numbers = Array.from({ length: 9_000 }, (_, index) => String(1_000 + index));
    const codes = [...'abcdefghijklmnopqrstuvwxyz'].flatMap((letter) =>
      [...'0123456789'].map((digit) => `${letter}${digit}`),
    );
    for (const values of [numbers, codes, [...'123456789']]) {
      const images = values.map((value) => surrogates.of(value));
      expect(new Set(images).size).toBe(values.length);
      expect(images.filter((image, index) => image === values[index])).toEqual([]);
      expect(images.toSorted()).toEqual(values.toSorted());
    }
  });

  it('is another one if the first does not fit, and the first one if none fits', () => {
    const [first, second] = [surrogates.of('4711'), surrogates.of(surrogates.of('4711'))];
    expect(surrogates.of('4711', (text) => text !== first)).toBe(second);
    expect(surrogates.of('4711', () => false)).toBe(first);
    const uuid = 'f47ac10b-58cc-4372-a567-0e02b2c3d479';
    expect(surrogates.of(uuid, (text) => text !== surrogates.of(uuid))).not.toBe(surrogates.of(uuid));
  });

  it('of random text has its shape and its length, and is not the text', () => {
    const text = fc
      .array(fc.constantFrom(...'abzABZ0179-_.~!', '%20', '%C3%A9', '%c3%89', '%E6%9D%8E', '%F0%A0%80%80', '%CC%81'), {
        minLength: 1,
        maxLength: 60,
      })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (value) => {
        const surrogate = surrogates.of(value);
        expect(surrogate).toHaveLength(value.length);
        expect(() => decodeURIComponent(surrogate)).not.toThrow();
        const { alphabets } = shapeOf(value);
        if (alphabets.some((alphabet) => alphabet !== undefined)) expect(surrogate).not.toBe(value);
        else expect(surrogate).toBe(value);
        if (value.length < 8) expect(shapeKey(shapeOf(surrogate))).toBe(shapeKey(shapeOf(value)));
      }),
      { numRuns: 500 },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/engine/manifest/dependencies.ts';
import { decodeText, invalidByteOf } from '../../src/engine/manifest/source.ts';
import '../support/seed.ts';
import { anyCharacter } from '../support/any-character.ts';
import { runs } from '../support/runs.ts';

/** Bytes that are often part of a sequence in UTF-8, valid or not. */
const bytesArbitrary = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        0x00,
        0x0a,
        0x41,
        0x80,
        0xbf,
        0xc0,
        0xc3,
        0xe0,
        0xed,
        0xa0,
        0xef,
        0xbb,
        0xf0,
        0x90,
        0xf4,
        0x8f,
        0xff,
      ),
      fc.integer({ min: 0, max: 255 }),
    ),
    { maxLength: 40 },
  )
  .map((bytes) => Buffer.from(bytes));

/** Encodes a decoded text again. */
function encode(text: string): Buffer {
  return Buffer.concat(
    [...text].map((character) => {
      const byte = invalidByteOf(character);
      return byte === undefined ? Buffer.from(character) : Buffer.of(byte);
    }),
  );
}

describe('decodeText', () => {
  it('decodes valid UTF-8 as the platform does, and keeps a byte order mark', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const valid = `\uFEFF${text.toWellFormed()}`;
        expect(decodeText(Buffer.from(valid))).toBe(valid);
      }),
    );
  });

  it('loses no byte, and marks bytes only if the text is not UTF-8', () => {
    fc.assert(
      fc.property(bytesArbitrary, (bytes) => {
        const text = decodeText(bytes);
        expect(encode(text).toString('hex')).toBe(bytes.toString('hex'));
        let isValid = true;
        try {
          new TextDecoder('utf-8', { fatal: true }).decode(bytes);
        } catch {
          isValid = false;
        }
        expect(text.isWellFormed()).toBe(isValid);
      }),
      { numRuns: runs(2000) },
    );
  });

  it('gives files with other invalid bytes another hash', () => {
    const hashes = [Buffer.of(0xe9), Buffer.of(0xe8), Buffer.from('\uFFFD')].map((bytes) => sha256(decodeText(bytes)));
    expect(new Set(hashes).size).toBe(3);
  });
});

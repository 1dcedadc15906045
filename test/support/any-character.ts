import fc from 'fast-check';

const SURROGATES = 0xd800;
const SURROGATE_COUNT = 0x800;

/**
 * Any character of Unicode, for strings: the same as the unit `binary` of fast-check. That one builds a map of all characters to find
 * strings that are special to JavaScript, such as `__proto__`, which takes a second in each process.
 */
export const anyCharacter = fc.integer({ min: 0, max: 0x10ffff - SURROGATE_COUNT }).map(
  (index) => String.fromCodePoint(index < SURROGATES ? index : index + SURROGATE_COUNT),
  (text) => {
    const code = typeof text === 'string' ? text.codePointAt(0) : undefined;
    if (code === undefined || text !== String.fromCodePoint(code)) throw new Error('this is not one character');
    return code < SURROGATES ? code : code - SURROGATE_COUNT;
  },
);

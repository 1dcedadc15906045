import { describe, expect, it } from 'vitest';
import { decodeText } from '../../src/engine/manifest/source.ts';
import { manifestOf, problemOf } from './support.ts';

const swapped = (bytes: Buffer) => Buffer.from(bytes).swap16();
const utf16 = Buffer.from(manifestOf(), 'utf16le');
const utf32 = Buffer.from(new Uint32Array([...manifestOf()].map((character) => character.codePointAt(0) ?? 0)).buffer);
const UTF16 = '1:1 the file is UTF-16; save it as UTF-8';
const UTF32 = '1:1 the file is UTF-32; save it as UTF-8';
const CRLF_ADVICE = 'a carriage return alone does not end a line; save the file with LF or CRLF line ends';

describe('bytes of another encoding or format', () => {
  it.each<[string, Buffer, string]>([
    ['UTF-16, little-endian', utf16, UTF16],
    ['UTF-16, big-endian', swapped(utf16), UTF16],
    ['UTF-16 with a mark, little-endian', Buffer.concat([Buffer.of(0xff, 0xfe), utf16]), UTF16],
    ['UTF-16 with a mark, big-endian', Buffer.concat([Buffer.of(0xfe, 0xff), swapped(utf16)]), UTF16],
    ['UTF-32, little-endian', utf32, UTF32],
    ['UTF-32, big-endian', Buffer.from(utf32).swap32(), UTF32],
    ['UTF-32 with a mark, little-endian', Buffer.concat([Buffer.of(0xff, 0xfe, 0, 0), utf32]), UTF32],
    [
      'UTF-32 with a mark, big-endian',
      Buffer.concat([Buffer.of(0, 0, 0xfe, 0xff), Buffer.from(utf32).swap32()]),
      UTF32,
    ],
    [
      'Windows-1252',
      Buffer.from(manifestOf('# 5 \u0080\n'), 'latin1'),
      '4:5 the byte 0x80 is not UTF-8 here; save the file as UTF-8',
    ],
    [
      'an overlong sequence',
      Buffer.from('version: \xC0\xB1\n', 'latin1'),
      '1:10 the byte 0xC0 is not UTF-8 here; save the file as UTF-8',
    ],
    [
      'a surrogate in UTF-8',
      Buffer.from('version: \xED\xA0\x80\n', 'latin1'),
      '1:10 the byte 0xED is not UTF-8 here; save the file as UTF-8',
    ],
    [
      'an incomplete last character',
      Buffer.from('version: é').subarray(0, -1),
      '1:10 the byte 0xC3 is not UTF-8 here; save the file as UTF-8',
    ],
    [
      'zip',
      Buffer.from('PK\x03\x04\x14\0'),
      '1:1 the file is compressed with zip; decompress it, or name another file',
    ],
    [
      'zstd',
      Buffer.of(0x28, 0xb5, 0x2f, 0xfd, 0),
      '1:1 the file is compressed with zstd; decompress it, or name another file',
    ],
    [
      'xz',
      Buffer.of(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0),
      '1:1 the file is compressed with xz; decompress it, or name another file',
    ],
    [
      'an image',
      Buffer.from('\x89PNG\r\n\x1A\n\0\0\0\rIHDR', 'latin1'),
      '3:1 the file has a NUL byte here, so it is not text; remove the byte, or name another file',
    ],
  ])('%s', (_name, bytes, expected) => {
    expect(problemOf(decodeText(bytes))).toBe(expected);
  });

  it('are recognized after a decoder that replaced the invalid bytes', () => {
    expect(problemOf(Buffer.concat([Buffer.of(0xff, 0xfe), utf16]).toString())).toBe(UTF16);
    expect(problemOf(Buffer.concat([Buffer.of(0xfe, 0xff), swapped(utf16)]).toString())).toBe(UTF16);
    expect(problemOf(Buffer.of(0x1f, 0x8b, 8, 0).toString())).toMatch(/^1:1 the file is compressed with gzip/);
  });
});

describe('characters that YAML excludes', () => {
  const codes = [1, 2, 8, 0xb, 0xc, 0xe, 0x18, 0x1b, 0x1f, 0x7f, 0x80, 0x84, 0x86, 0x9f, 0xfffe, 0xffff];

  it.each(codes.map((code) => [code.toString(16).toUpperCase().padStart(4, '0'), code] as const))(
    'U+%s',
    (name, code) => {
      const message = `YAML has no control characters, and this is U+${name}; remove it, or write it as an escape in double quotes`;
      const character = String.fromCharCode(code);
      for (const comment of [`# ${character}\n`, `# 😀\r\n# ${character}\r\n`])
        expect(problemOf(manifestOf(comment))).toBe(`${comment.includes('😀') ? 5 : 4}:3 ${message}`);
      expect(problemOf(manifestOf(`listen: "${character}"\n`))).toBe(`4:10 ${message}`);
    },
  );

  it.each([
    ['at the end of every line', manifestOf().replaceAll('\n', '\r'), `1:11 ${CRLF_ADVICE}`],
    ['at the end of one line', manifestOf().replace('1\nup', '1\rup'), `1:11 ${CRLF_ADVICE}`],
    ['doubled', manifestOf().replaceAll('\n', '\r\r\n'), `1:11 ${CRLF_ADVICE}`],
    ['in quotes', manifestOf('listen: "a\rb"\n'), `4:11 ${CRLF_ADVICE}`],
  ])('a carriage return %s', (_name, text, expected) => {
    expect(problemOf(text)).toBe(expected);
  });
});

describe('a merge conflict', () => {
  it.each(['<<<<<<< HEAD', '=======', '>>>>>>> topic', '||||||| 1234567', '<<<<<<<', '>>>>>>>'])(
    'the line %s',
    (line) => {
      for (const end of ['\n', '\r\n'])
        expect(problemOf(manifestOf(`${line}\n`).replaceAll('\n', end))).toBe(
          '4:1 the file has a merge conflict here; resolve it, and remove the lines that git added',
        );
    },
  );
});

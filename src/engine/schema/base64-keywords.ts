import { sizeBytes } from '../manifest/units.ts';

/**
 * The keyword `contentEncoding: base64`. JSON Schema treats it as an annotation; here it validates alphabet, padding and
 * zero bits after the last byte (RFC 4648 sections 3.5 and 4), so that every decoder reads the same bytes. It does not decode.
 */
export const CONTENT_ENCODING = {
  keyword: 'contentEncoding',
  type: 'string',
  schemaType: 'string',
  validate: (_encoding: string, text: string) => isBase64(text),
  error: { message: 'must be base64, padded, without line breaks' },
} as const;

/** The keyword `contentMaxBytes: 5MB`: the maximum size of the decoded base64 text. */
export const CONTENT_MAX_BYTES = {
  keyword: 'contentMaxBytes',
  type: 'string',
  schemaType: 'string',
  compile: (size: string) => {
    const limitBytes = sizeBytes(size);
    return (text: string) => decodedBytes(text) <= limitBytes;
  },
} as const;

const FOREIGN = /[^A-Za-z0-9+/]/;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function isBase64(text: string): boolean {
  const padding = paddingOf(text);
  const end = text.length - padding;
  if (text.length % 4 !== 0 || FOREIGN.test(text.slice(0, end))) return false;
  const unused = padding === 2 ? 0b1111 : padding === 1 ? 0b11 : 0;
  return (ALPHABET.indexOf(text.charAt(end - 1)) & unused) === 0;
}

function decodedBytes(text: string): number {
  return Math.floor((text.length / 4) * 3) - paddingOf(text);
}

function paddingOf(text: string): number {
  if (!text.endsWith('=')) return 0;
  return text.endsWith('==') ? 2 : 1;
}

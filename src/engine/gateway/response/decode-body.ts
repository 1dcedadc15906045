import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { getAllHeaders, type RawHeaders } from '../../http1/raw-headers.ts';

/** Loaded on first use: it takes 4 MB. */
const require = createRequire(import.meta.url);
const loadZlib = (): typeof import('node:zlib') => require('node:zlib');

/** The body cannot be decoded, or can be decoded in two ways. The message is a reason for the log. */
export class ContentDecodingError extends Error {}

interface DecodedBody {
  readonly buffer: Buffer;
  /** `bytesWritten`: the bytes of the input that the decoder read. */
  readonly engine: { readonly bytesWritten: number };
}

type Decode = (
  body: Buffer,
  options: { readonly info: true; readonly maxOutputLength: number },
) => Promise<DecodedBody>;

interface Decoder {
  /** The name of its function in `node:zlib`. */
  readonly decode: 'gunzip' | 'inflate' | 'brotliDecompress' | 'zstdDecompress';
  /** False if the body has several streams. Some formats allow this, and some decoders read only the first stream. */
  readonly isSingleStream: (body: Buffer, decoded: Buffer) => boolean;
}

const GZIP: Decoder = { decode: 'gunzip', isSingleStream: endsWithChecksumOf };

const DECODERS: ReadonlyMap<string, Decoder> = new Map([
  ['gzip', GZIP],
  ['x-gzip', GZIP],
  ['deflate', { decode: 'inflate', isSingleStream: () => true }],
  ['br', { decode: 'brotliDecompress', isSingleStream: () => true }],
  ['zstd', { decode: 'zstdDecompress', isSingleStream: hasOneZstdFrame }],
]);

/**
 * Decodes the body of a response with a single `Content-Encoding`. Accepts only a body that all decoders read alike: exactly one
 * stream, with nothing after it.
 *
 * @throws ContentDecodingError
 */
export async function decodeBody(headers: RawHeaders, body: Buffer, limitBytes: number): Promise<Buffer> {
  const encoding = getAllHeaders(headers, 'content-encoding').join(',').trim().toLowerCase();
  if (body.length === 0) return body;
  if (encoding === '' || encoding === 'identity') return rejectCompressed(body);
  const decoder = DECODERS.get(encoding);
  if (decoder === undefined) throw new ContentDecodingError('encoding_unknown');
  let decoded: DecodedBody;
  try {
    const decode = promisify(loadZlib()[decoder.decode]) as unknown as Decode;
    decoded = await decode(body, { info: true, maxOutputLength: limitBytes });
  } catch {
    throw new ContentDecodingError('encoding_invalid');
  }
  const { buffer, engine } = decoded;
  if (engine.bytesWritten !== body.length || !decoder.isSingleStream(body, buffer))
    throw new ContentDecodingError('encoding_ambiguous');
  return rejectCompressed(buffer);
}

/** Rejects bytes that a client may decompress although no header declares an encoding. Text never begins with these signatures. */
function rejectCompressed(body: Buffer): Buffer {
  const start = body.toString('latin1', 0, 4);
  if (SIGNATURE.test(start)) throw new ContentDecodingError('encoding_undeclared');
  return body;
}

/** Signatures of gzip (RFC 1952), compress, zlib (RFC 1950), zstd (RFC 8878), bzip2, xz and zip. */
const SIGNATURE =
  /^(?:\x1f[\x8b\x9d\xa0]|x[\x01\x9c\xda]|\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18|BZh[1-9]|\xfd7zX|PK\x03\x04)/;

/** True if the body is a single member: gzip ends with the checksum and length of its last member (RFC 1952 section 2.3.1). */
function endsWithChecksumOf(body: Buffer, decoded: Buffer): boolean {
  return (
    body.readUInt32LE(body.length - 8) === loadZlib().crc32(decoded) &&
    body.readUInt32LE(body.length - 4) === decoded.length
  );
}

const MAGIC = 0xfd2fb528;
/** Bytes of the dictionary id and of the content size, by their flags. */
const DICTIONARY_BYTES = [0, 1, 2, 4];
const SIZE_BYTES = [0, 2, 4, 8];
/** The block type of one repeated byte. */
const RUN = 1;

/** True if valid zstd bytes are exactly one frame (RFC 8878 section 3.1.1), without a skippable frame. */
function hasOneZstdFrame(bytes: Buffer): boolean {
  if (bytes.readUInt32LE(0) !== MAGIC) return false;
  const descriptor = bytes[4] as number;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 && isSingleSegment ? 1 : (SIZE_BYTES[sizeFlag] as number);
  const windowBytes = isSingleSegment ? 0 : 1;
  let at = 5 + windowBytes + (DICTIONARY_BYTES[descriptor & 3] as number) + sizeBytes;
  for (let isLast = false; !isLast && at + 3 <= bytes.length; ) {
    const header = bytes.readUIntLE(at, 3);
    isLast = (header & 1) === 1;
    at += 3 + (((header >> 1) & 3) === RUN ? 1 : header >> 3);
  }
  const hasChecksum = (descriptor & 4) !== 0;
  return at + (hasChecksum ? 4 : 0) === bytes.length;
}

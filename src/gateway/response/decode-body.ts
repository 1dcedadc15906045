import { promisify } from 'node:util';
import { brotliDecompress, crc32, gunzip, inflate, zstdDecompress } from 'node:zlib';
import { hasOneZstdFrame } from './zstd-frame.ts';

/** Why a body cannot be read for sure. */
export class ContentDecodingError extends Error {}

interface DecodedBody {
  readonly buffer: Buffer;
  /** `bytesWritten`: how many bytes of the input it took. */
  readonly engine: { readonly bytesWritten: number };
}

type Decode = (
  body: Buffer,
  options: { readonly info: true; readonly maxOutputLength: number },
) => Promise<DecodedBody>;

interface Decoder {
  readonly decode: Decode;
  /** False where the format may hold several streams one after the other, and some decoders read the first one only. */
  readonly isSingleStream: (body: Buffer, decoded: Buffer) => boolean;
}

const GZIP: Decoder = { decode: promisify(gunzip) as unknown as Decode, isSingleStream: endsWithChecksumOf };

const DECODERS: ReadonlyMap<string, Decoder> = new Map([
  ['gzip', GZIP],
  ['x-gzip', GZIP],
  ['deflate', { decode: promisify(inflate) as unknown as Decode, isSingleStream: () => true }],
  ['br', { decode: promisify(brotliDecompress) as unknown as Decode, isSingleStream: () => true }],
  ['zstd', { decode: promisify(zstdDecompress) as unknown as Decode, isSingleStream: hasOneZstdFrame }],
]);

/**
 * Decodes the body of a response by its one `Content-Encoding`. Every decoder reads the same bytes: one stream, to its end, with nothing behind it.
 *
 * @throws Undecodable
 */
export async function decodeBody(headers: readonly string[], body: Buffer, limitBytes: number): Promise<Buffer> {
  const encodings = headers.filter(
    (_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === 'content-encoding',
  );
  const encoding = encodings.join(',').trim().toLowerCase();
  if (body.length === 0) return body;
  if (encoding === '' || encoding === 'identity') return rejectCompressed(body);
  const decoder = DECODERS.get(encoding);
  if (decoder === undefined) throw new ContentDecodingError('encoding_unknown');
  let decoded: DecodedBody;
  try {
    decoded = await decoder.decode(body, { info: true, maxOutputLength: limitBytes });
  } catch {
    throw new ContentDecodingError('encoding_invalid');
  }
  const { buffer, engine } = decoded;
  if (engine.bytesWritten !== body.length || !decoder.isSingleStream(body, buffer))
    throw new ContentDecodingError('encoding_ambiguous');
  return rejectCompressed(buffer);
}

/** A client may decompress a body by its first bytes, though no header says so. Text does not begin with these. */
function rejectCompressed(body: Buffer): Buffer {
  const start = body.toString('latin1', 0, 4);
  if (SIGNATURE.test(start)) throw new ContentDecodingError('encoding_undeclared');
  return body;
}

/** Of gzip (RFC 1952), compress, zlib (RFC 1950), zstd (RFC 8878), bzip2, xz and zip. */
const SIGNATURE =
  /^(?:\x1f[\x8b\x9d\xa0]|x[\x01\x9c\xda]|\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18|BZh[1-9]|\xfd7zX|PK\x03\x04)/;

/** The last eight bytes of gzip are a sum of its last member and that member's length (RFC 1952 section 2.3.1). */
function endsWithChecksumOf(body: Buffer, decoded: Buffer): boolean {
  return body.readUInt32LE(body.length - 8) === crc32(decoded) && body.readUInt32LE(body.length - 4) === decoded.length;
}

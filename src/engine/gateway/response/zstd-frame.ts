const MAGIC = 0xfd2fb528;
/** Bytes of the dictionary id and of the content size, by their flags. */
const DICTIONARY_BYTES = [0, 1, 2, 4];
const SIZE_BYTES = [0, 2, 4, 8];
/** The block type of one repeated byte. */
const RUN = 1;

/** True if valid zstd bytes are exactly one frame (RFC 8878 section 3.1.1), without a skippable frame. */
export function hasOneZstdFrame(bytes: Buffer): boolean {
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

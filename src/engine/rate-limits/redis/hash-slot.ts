/** The number of hash slots of a Redis Cluster. */
const SLOTS = 16_384;
/** CRC-16/XMODEM, of which the Redis Cluster specification takes the lower 14 bits. */
const POLYNOMIAL = 0x1021;

/** Returns the hash slot of a key of printable ASCII without braces, such as those of `SharedCounters`. */
export function hashSlot(key: string): number {
  let crc = 0;
  for (let index = 0; index < key.length; index += 1) {
    crc ^= key.charCodeAt(index) << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ POLYNOMIAL;
  }
  return crc & (SLOTS - 1);
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closeFrame, Frames } from '../../src/gateway/frames.ts';

interface Frame {
  readonly opcode: number;
  readonly length: number;
  readonly isMasked: boolean;
}

function bytesOf({ opcode, length, isMasked }: Frame): Buffer {
  const flag = isMasked ? 0x80 : 0;
  const size = Buffer.alloc(length < 126 ? 0 : length < 65_536 ? 2 : 8);
  if (size.length === 2) size.writeUInt16BE(length);
  if (size.length === 8) size.writeBigUInt64BE(BigInt(length));
  const short = size.length === 0 ? length : size.length === 2 ? 126 : 127;
  return Buffer.concat([
    Buffer.from([0x80 | opcode, flag | short]),
    size,
    Buffer.alloc(isMasked ? 4 : 0, 7),
    Buffer.alloc(length, 0xff),
  ]);
}

const frames = fc.array(
  fc.record({
    opcode: fc.constantFrom(0, 1, 2, 9, 10),
    length: fc.constantFrom(0, 1, 125, 126, 127, 65_535, 65_536, 70_000),
    isMasked: fc.boolean(),
  }),
  { minLength: 1, maxLength: 5 },
);

describe('frames', () => {
  it('end where they end, however they are cut', () => {
    fc.assert(
      fc.property(frames, fc.infiniteStream(fc.integer({ min: 1, max: 40_000 })), (list, steps) => {
        const reader = new Frames();
        const all = Buffer.concat(list.map(bytesOf));
        const ends = new Set<number>();
        for (const frame of list)
          ends.add([...ends].reduce((most, end) => Math.max(most, end), 0) + bytesOf(frame).length);
        for (let at = 0; at < all.length; ) {
          const piece = all.subarray(at, at + (steps.next().value as number));
          expect(reader.read(piece, false)).toBe(piece.length);
          at += piece.length;
          expect(reader.isBetween).toBe(ends.has(at));
        }
        expect(reader.hasClosed).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  it('are read to the end of the one that has begun, where no more are wanted', () => {
    const [first, second] = [
      bytesOf({ opcode: 1, length: 300, isMasked: true }),
      bytesOf({ opcode: 2, length: 3, isMasked: false }),
    ];
    const reader = new Frames();
    reader.read(first.subarray(0, 10), false);
    const rest = Buffer.concat([first.subarray(10), second]);
    expect(reader.read(rest, true)).toBe(first.length - 10);
    expect(reader.isBetween).toBe(true);
    expect(reader.read(second, true)).toBe(0);
  });

  it('that close are known', () => {
    const reader = new Frames();
    reader.read(closeFrame(false, 'going_away'), false);
    expect([reader.hasClosed, reader.isBetween]).toEqual([true, true]);
  });

  it('that say that the gateway goes away are masked to a server', () => {
    expect(closeFrame(false, 'going_away').toString('hex')).toBe('880203e9');
    const frame = closeFrame(true, 'going_away');
    expect(frame.subarray(0, 2).toString('hex')).toBe('8882');
    expect([0, 1].map((index) => (frame[6 + index] as number) ^ (frame[2 + index] as number))).toEqual([0x03, 0xe9]);
  });
});

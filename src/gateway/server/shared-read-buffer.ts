import { Socket } from 'node:net';

/** Node's own symbols, by which a socket reads into memory that it was given. It documents that only for `net.connect`. */
const symbols = Object.getOwnPropertySymbols(new Socket());
const BUFFER = symbolOf('kBuffer');
const CALLBACK = symbolOf('kBufferCb');
const READ_BYTES = 65_536;

let memory: Buffer | undefined;

interface InternalSocket {
  readonly _handle?: { useUserBuffer?(memory: Buffer): void } | null;
  [symbol: symbol]: unknown;
}

/**
 * Makes a client's connection read into memory that all connections share: Node allocates 64 kB for each read, which is a
 * twentieth of the time that a small request takes. TLS keeps its own memory, because it may read again before it has passed on
 * the bytes of the read before.
 *
 * @param take takes what was read, instead of the stream. The bytes are valid until it returns; false suspends the reads
 */
export function useSharedReadBuffer(socket: Socket, take: (bytes: Buffer) => boolean): void {
  const inner = socket as unknown as InternalSocket;
  const handle = inner._handle;
  if (BUFFER === undefined || CALLBACK === undefined || 'encrypted' in socket) return;
  if (!(socket instanceof Socket) || handle?.useUserBuffer === undefined) return;
  memory ??= Buffer.allocUnsafeSlow(READ_BYTES);
  const shared = memory;
  inner[BUFFER] = shared;
  inner[CALLBACK] = (size: number) => take(shared.subarray(0, size));
  handle.useUserBuffer(shared);
}

function symbolOf(name: string): symbol | undefined {
  return symbols.find(({ description }) => description === name);
}

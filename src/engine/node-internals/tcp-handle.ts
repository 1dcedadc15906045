import { type Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** The parts of the handle of a TCP socket or listener that Node does not document. */
interface TcpHandle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
  listen(backlog: number): number;
}

interface HandleOwner {
  readonly _handle?: TcpHandle | null;
}

/** Checks that this version of Node has the handle. @param server listens already. @throws Error */
export function assertTcpHandle(server: Server): void {
  const { _handle: handle } = server as HandleOwner;
  const isKnown = handle != null && 'bytesWritten' in handle && 'writeQueueSize' in handle && 'listen' in handle;
  if (!isKnown) throw new Error(`the TCP handle of this version of Node has other members`);
}

/**
 * Returns the bytes of a connection that the kernel has accepted, those of a partly accepted write too. The public counts change only
 * with complete writes, and a slow client that reads a large one for minutes would seem to stand still.
 */
export function bytesSent(socket: Duplex): number {
  const handle = socket instanceof Socket ? (socket as HandleOwner)._handle : undefined;
  return handle == null ? 0 : handle.bytesWritten - handle.writeQueueSize;
}

/** Makes the queue of connections that wait in the kernel as short as it can be: a second listen(2) only changes its length. */
export function shortenBacklog(server: Server): void {
  (server as HandleOwner)._handle?.listen(0);
}

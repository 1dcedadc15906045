import type { Duplex } from 'node:stream';

type Callback = (error?: Error | null) => void;

/** The peer closed or reset the connection. */
const CLOSED_BY_PEER = new Set<string | undefined>(['EPIPE', 'ECONNRESET']);

/**
 * Keeps a socket readable after a write fails because the peer closed. Node would destroy the socket, and with it an early
 * response that is still in the kernel's buffer. The failed write never completes, so no other write follows.
 *
 * @param onFailed called once
 * @throws Error if this version of Node writes by other functions
 */
export function interceptWriteErrors(socket: Duplex, onFailed: (error: Error) => void): void {
  let onWritten: Callback = () => undefined;
  // A stream passes the same callback to each of its writes, and has one write in progress at a time.
  const complete = (error?: (Error & { code?: string }) | null) => {
    if (error == null || !CLOSED_BY_PEER.has(error.code)) onWritten(error);
    else onFailed(error);
  };
  const { _write: write, _writev: writev } = socket;
  if (typeof write !== 'function') throw new Error('a socket of this version of Node has no _write');
  socket._write = (chunk, encoding, callback) => {
    onWritten = callback;
    write.call(socket, chunk, encoding, complete);
  };
  if (typeof writev !== 'function') return;
  socket._writev = (chunks, callback) => {
    onWritten = callback;
    writev.call(socket, chunks, complete);
  };
}

import type { IncomingMessage } from 'node:http';

/** Receives the bytes of a request body as they arrive. */
export interface BodyCopy {
  /** The chunk is valid only during the call. */
  add(chunk: Buffer): void;
  /** Called after the last byte of a complete body. */
  end(): void;
  /** Called once the exchange needs the copy no longer. */
  release(): void;
}

/** Copies a body, before its first byte is read. The caller reads the body. */
export function copyRequestBody(request: IncomingMessage, copy: BodyCopy): void {
  const add = (chunk: Buffer) => copy.add(chunk);
  request.on('data', add);
  request.on('end', () => {
    // When a response ends, Node removes the listeners and drops the rest of the body.
    if (request.listeners('data').includes(add)) copy.end();
  });
}

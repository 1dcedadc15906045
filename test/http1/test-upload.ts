import { type ClientRequest, parseRequest } from '../../src/engine/http1/client-request.ts';
import { Upload } from '../../src/engine/http1/upstream-request.ts';

/** A streamed body whose pieces a test provides. */
export class TestUpload extends Upload {
  /** True once the complete body was sent, or the connection needs no more of it. */
  isOver = false;
  readonly #request: ClientRequest;

  constructor(...pieces: string[]) {
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n';
    const request = parseRequest(head, { updateReads: () => {}, parseBody: () => {} });
    if (typeof request === 'string') throw new Error(request);
    super(request);
    this.#request = request;
    for (const piece of pieces) this.push(piece);
    if (pieces.length > 0) this.end();
  }

  push(piece: string): void {
    this.#request.receive(Buffer.from(piece));
  }

  end(): void {
    this.#request.complete();
  }

  refuse(): void {
    this.fail(new Error('unfit'));
  }

  override stop(): void {
    super.stop();
    this.isOver = true;
  }

  override onBodyEnd(): void {
    super.onBodyEnd();
    this.isOver = true;
  }

  override onBodyClose(): void {}
}

import { Duplex } from 'node:stream';
import { ClientConnection } from '../../src/engine/http1/client-connection.ts';
import type { ClientRequest } from '../../src/engine/http1/client-request.ts';
import type { RequestErrorKind } from '../../src/engine/http1/message-head.ts';
import type { ClientConnectionLimits, RequestHandler } from '../../src/engine/http1/request-reader.ts';
import type { ResponseWriter } from '../../src/engine/http1/response-writer.ts';

/** A request with its complete body, as a parser reads it. */
export interface ReadRequest {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly headers: readonly string[];
  /** In latin-1. */
  readonly body: string;
}

export const LIMITS: ClientConnectionLimits = {
  headerLimitBytes: 16_384,
  headersTimeoutMs: 1_000,
  requestTimeoutMs: 2_000,
  keepAliveTimeoutMs: 5_000,
  maxRequestsPerConnection: 1_000,
};

/** A socket that accepts each write at once. Tests call `emit('data', bytes)`. */
export class TestSocket extends Duplex {
  /** All written bytes, in latin-1. */
  written = '';

  resetAndDestroy(): this {
    return this.destroy();
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: unknown, callback: () => void): void {
    this.written += bytes.toString('latin1');
    callback();
  }
}

/** A connection that responds with 204 to each complete request. */
export class TestConnection extends ClientConnection {
  readonly requests: ReadRequest[] = [];
  readonly errors: RequestErrorKind[] = [];
  readonly handler: RequestHandler<this>;
  readonly #check: (request: ClientRequest) => void;

  /** @param check throws for a request that is refused */
  constructor(socket: TestSocket, check: (request: ClientRequest) => void = () => {}) {
    super(socket, socket);
    this.#check = check;
    this.handler = {
      limits: this.limits,
      onRequest: (_connection, request, response) => this.#serve(request, response),
      onRequestError: (_connection, kind) => this.#refuse(kind),
    };
  }

  /** The trailers in memory. */
  get trailers(): readonly string[] {
    return this.body.trailers.headers;
  }

  protected get limits(): ClientConnectionLimits {
    return LIMITS;
  }

  #serve(request: ClientRequest, response: ResponseWriter): void {
    try {
      this.#check(request);
    } catch {
      this.#refuse('message');
      return;
    }
    const { method, url: target, httpVersion: version, rawHeaders: headers } = request;
    let body = '';
    request.readBody({
      onBodyData: (bytes) => {
        body += bytes.toString('latin1');
      },
      onBodyEnd: () => {
        this.requests.push({ method, target, version, headers, body });
        response.writeHead(204, 'No Content', []);
        response.end();
      },
      onBodyClose: () => {},
    });
  }

  #refuse(kind: RequestErrorKind): void {
    this.errors.push(kind);
    this.refuseInput('');
  }
}

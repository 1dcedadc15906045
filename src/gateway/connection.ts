import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ServerRules } from '../plan/plan.ts';
import { LINGER_MS } from './refuse.ts';

/** What Node knows of a socket and does not tell. */
interface Inner extends Socket {
  /** The answer that is being written. */
  readonly _httpMessage?: ServerResponse | null;
  /** Below TLS: the socket that carries it. */
  readonly _parent?: Inner | null;
  readonly _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null;
}

/** A client's connection, and what is known of it for as long as it stands. */
export class Connection {
  readonly protocol: 'http' | 'https';
  readonly peer: string | undefined;
  /** Its client kept the gateway waiting, and it was cut off. */
  isStalled = false;
  readonly #socket: Inner;
  readonly #carrier: Inner;
  #requests = 0;
  /** Its last answer has left. */
  #isOver = false;
  #isIgnored = false;
  /** The answer to the latest request. */
  #latest: ServerResponse | undefined;
  #trusts: ServerRules['trusts'];
  #isTrusted = false;
  #awaited: 'answer' | 'body' | undefined;
  #moved = 0;
  #stillLooks = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#carrier = this.#socket._parent ?? socket;
    this.protocol = 'encrypted' in socket ? 'https' : 'http';
    this.peer = socket.remoteAddress;
    // What Node calls behind the last answer.
    socket.destroySoon = () => this.#linger();
  }

  /**
   * Whether what came is a request. Behind one whose answer closes the connection nothing is a request any more
   * (RFC 9112 section 9.6): Node would still hand it out.
   *
   * @param limit the answer to so many requests closes the connection: Node's own limit does not, and answers what comes after
   */
  takes(request: IncomingMessage, response: ServerResponse, limit: number): boolean {
    if (this.#isOver || this.#latest?.shouldKeepAlive === false) {
      this.#ignoreRest();
      request.resume();
      return false;
    }
    this.#latest = response;
    this.#requests += 1;
    // Node drops what it read together with a request that asks for an upgrade: what comes next may be its body.
    if (this.#requests >= limit || request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    return true;
  }

  /** Whether the peer is a trusted proxy. Looked up once, and anew when another plan says who is trusted. */
  isTrusted(trusts: NonNullable<ServerRules['trusts']>): boolean {
    if (trusts !== this.#trusts) {
      this.#trusts = trusts;
      this.#isTrusted = this.peer !== undefined && trusts(this.peer);
    }
    return this.#isTrusted;
  }

  /** Not a byte came on it: it was opened in advance. */
  get isUnused(): boolean {
    return this.#socket.bytesRead === 0;
  }

  /** The beginning of an answer has left, and the request is still coming. */
  get isAnswering(): boolean {
    const answer = this.#socket._httpMessage;
    return answer?.headersSent === true && !answer.req.complete;
  }

  /**
   * Looks whether the client keeps the gateway waiting: it takes nothing of an answer, or sends nothing of a body.
   *
   * @returns how many looks in a row have found nothing moved
   */
  look(): number {
    const awaited = this.#whatIsAwaited();
    const moved = awaited === 'answer' ? this.#bytesTaken() : this.#socket.bytesRead;
    const isStill = awaited !== undefined && awaited === this.#awaited && moved === this.#moved;
    this.#stillLooks = isStill ? this.#stillLooks + 1 : 0;
    this.#awaited = awaited;
    this.#moved = moved;
    return this.#stillLooks;
  }

  /** Ends it by a reset: a close could be taken for the end of an answer (RFC 9112 section 8). */
  reset(): void {
    this.#carrier.resetAndDestroy();
  }

  /**
   * What the client still sends is read for a moment and thrown away: to close with bytes unread is a reset, and
   * would take the end of the answer along (RFC 9112 section 9.6).
   */
  #linger(): void {
    this.#isOver = true;
    this.#ignoreRest();
    this.#socket.end();
    const timer = setTimeout(() => this.#socket.destroy(), LINGER_MS);
    this.#socket.once('close', () => clearTimeout(timer));
  }

  /** Takes it from the parser, which would make a request and an answer of all that comes. */
  #ignoreRest(): void {
    if (this.#isIgnored) return;
    this.#isIgnored = true;
    this.#socket.removeAllListeners('data');
    this.#socket.on('data', () => undefined);
  }

  #whatIsAwaited(): 'answer' | 'body' | undefined {
    // A client that has an answer to read may leave its body for later. A tunnel has no answer.
    if (this.#socket.writableLength > 0) return this.#socket._httpMessage ? 'answer' : undefined;
    const request = this.#latest?.req;
    return request?.complete === false && request.readableFlowing === true ? 'body' : undefined;
  }

  /** What the kernel has taken; a write of 64 kB counts byte by byte. */
  #bytesTaken(): number {
    const handle = this.#carrier._handle;
    return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
  }
}

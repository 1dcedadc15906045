/**
 * Repairs two things in the parser of undici 8, which it offers no way to set. It takes `100 Continue` that it did not
 * ask for as a fault, where a client must be able to parse it (RFC 9110 section 15.2). And it does not see that a
 * trailer has announced the close of the connection, and loses the next request's answer on it.
 *
 * The parser is reached by its private names through a socket that undici has taken over: where they are others,
 * nothing is repaired, and test/gateway/informational.test.ts and the corpus of answers fail.
 */
export function repairParser(socket: object | null): void {
  const symbol = Object.getOwnPropertySymbols(socket ?? {}).find(({ description }) => description === 'parser');
  const parser: unknown = symbol && (socket as Record<symbol, unknown>)[symbol];
  if (typeof parser !== 'object' || parser === null) return;
  const shared = Object.getPrototypeOf(parser) as Parser;
  if (repaired.has(shared)) return;
  repaired.add(shared);
  const { onHeadersComplete, onMessageComplete } = shared;

  shared.onHeadersComplete = function (this: Parser, status, upgrade, shouldKeepAlive) {
    if (status !== 100 || upgrade) return onHeadersComplete.call(this, status, upgrade, shouldKeepAlive);
    // Like every other informational answer, but nobody is told, and the upstream gets no new time by it.
    this.statusCode = status;
    return WITHOUT_BODY;
  };

  shared.onMessageComplete = function (this: Parser) {
    if (this.connection !== '' && CLOSE.test(this.connection)) this.shouldKeepAlive = false;
    return onMessageComplete.call(this);
  };
}

const repaired = new WeakSet<object>();

/** What the parser is told of a message whose head ends it. */
const WITHOUT_BODY = 1;

const CLOSE = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;

/** What is used here of undici's `Parser`, lib/dispatcher/client-h1.js. */
interface Parser {
  statusCode: number;
  /** The values of `Connection` so far, of head and trailers. */
  connection: string;
  shouldKeepAlive: boolean;
  onHeadersComplete(status: number, upgrade: boolean, shouldKeepAlive: boolean): number;
  onMessageComplete(): number;
}

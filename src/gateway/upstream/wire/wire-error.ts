/** What a connection to an upstream says of an exchange that failed; of the network, the system's own errors say it. */
export type WireCode =
  | 'connect_timeout'
  | 'response_timeout'
  | 'idle_timeout'
  /** Closed where more was owed. */
  | 'connection_closed'
  /** No answer of HTTP/1.1, or one that has two readings. */
  | 'answer_malformed'
  | 'answer_head_too_large'
  /** Bytes where no answer was awaited. */
  | 'answer_unasked'
  /** A switch of protocols that nobody asked for. */
  | 'answer_upgrade_unasked'
  /** What was to be sent is no request with one reading. */
  | 'request_malformed';

export class WireError extends Error {
  readonly code: WireCode;

  constructor(code: WireCode) {
    super(code);
    this.code = code;
  }
}

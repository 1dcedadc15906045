/** What a connection to an upstream says of an exchange that failed; of the network, the system's own errors say it. */
export const HTTP1_ERROR_CODES = {
  connect_timeout: 'no connection within `connect`',
  response_timeout: 'no answer within `response`',
  idle_timeout: 'nothing more of an answer within `idle`',
  connection_closed: 'the upstream closed the connection and owed more',
  response_malformed: 'no answer of HTTP/1.1, or one that has two readings',
  response_head_too_large: 'the head of the answer has more than 16 kB',
  response_unexpected: 'something came before the request was sent',
  upgrade_unexpected: 'the upstream switched to a protocol that nobody asked for',
  informational_too_many: 'more than 100 informational (1xx) responses before the response',
  request_malformed: 'what was to be sent is no request with one reading',
} as const;

export type Http1ErrorCode = keyof typeof HTTP1_ERROR_CODES;

export class Http1Error extends Error {
  readonly code: Http1ErrorCode;

  constructor(code: Http1ErrorCode) {
    super(HTTP1_ERROR_CODES[code]);
    this.code = code;
  }
}

/** Failures of an exchange by their code. Failures of the network have the codes of the system. */
export const HTTP1_ERROR_CODES = {
  connect_timeout: 'no connection within the `connect` timeout',
  response_timeout: 'no response within the `response` timeout',
  idle_timeout: 'the response stopped for longer than the `idle` or `eventStream` timeout',
  connection_closed: 'the upstream closed the connection before the response was complete',
  response_malformed: 'the response is not valid HTTP/1.1, or can be read in two ways',
  response_head_too_large:
    'the head of the response is larger than `limits.responseHeadBytes`, or than 16 kB from an identity service',
  response_unexpected: 'the upstream sent bytes before the request',
  upgrade_unexpected: 'the upstream switched to another protocol without a handshake',
  informational_too_many: 'more than 100 informational (1xx) responses before the response',
  request_malformed: 'the request is not valid HTTP/1.1, or can be read in two ways',
} as const;

type Http1ErrorCode = keyof typeof HTTP1_ERROR_CODES;

export class Http1Error extends Error {
  readonly code: Http1ErrorCode;

  constructor(code: Http1ErrorCode) {
    super(HTTP1_ERROR_CODES[code]);
    this.code = code;
  }
}

/** The required outcome of a request. `VERDICTS` in `../verdict.ts` defines each for the client and the upstream. */
export type Verdict =
  /** Status 400 and a closed connection. Nothing reaches the upstream. */
  | '400'
  /** The same after a valid request, or the connection closes without a response. */
  | '400-or-closed'
  /** Status 400 for an error in the body. The upstream may receive an aborted request. */
  | '400-in-body'
  /** Forwarded exactly once, with path, query and body unchanged. */
  | 'forwarded'
  /** Forwarded in the same way, or refused. */
  | 'forwarded-or-refused'
  /** The gateway responds itself. */
  | '200-by-gateway'
  | '401'
  | '401-or-400'
  /** Status 401, or the connection closes without a response. */
  | '401-or-closed'
  | '403'
  | '404'
  | '404-or-401'
  | '405'
  | '405-or-400'
  | '405-or-closed'
  | '413'
  | '415'
  | '417'
  | '417-or-forwarded'
  | '431'
  | '505-or-400'
  /** A request that never ends. It gets no response, and none of its bytes become another request. */
  | 'unfinished';

/** An attack, or a valid request that looks like one. */
export interface Case {
  readonly name: string;
  /**
   * Latin-1. The client writes the entries of a list one by one, with a pause between them. `{{token}}` is replaced
   * by a valid token, `{{guest}}` by a token with a role that is not allowed.
   */
  readonly bytes: string | readonly string[];
  /** One verdict for each request in the bytes, in order. */
  readonly expect: Verdict | readonly Verdict[];
  /** The RFC and section, the advisory, or the research behind the case. */
  readonly source: string;
  /** The request target and body that the upstream receives, if they differ from the bytes. */
  readonly forwardedTarget?: string;
  readonly forwardedBody?: string;
  /** Headers (`name: value`) that the upstream receives, and header names that it must not receive. */
  readonly forwardedHeaders?: readonly string[];
  readonly removedHeaders?: readonly string[];
  /** True if the client receives `100 Continue`. */
  readonly expectsContinue?: boolean;
}

export const HOST = 'Host: gateway.test';
export const TOKEN = 'Authorization: Bearer {{token}}';

/** Returns a GET request without `Connection: close`. */
export function get(target: string, ...headers: string[]): string {
  return request(`GET ${target} HTTP/1.1`, HOST, ...headers);
}

/** Returns a head with exactly these lines. */
export function request(...lines: string[]): string {
  return [...lines, '', ''].join('\r\n');
}

/** Returns a request with a Content-Length. */
export function post(target: string, body: string, ...headers: string[]): string {
  return request(`POST ${target} HTTP/1.1`, HOST, `Content-Length: ${body.length}`, ...headers) + body;
}

/** Returns a request with a chunked body. `chunks` is used unchanged. */
export function postChunks(target: string, chunks: string, ...headers: string[]): string {
  return request(`POST ${target} HTTP/1.1`, HOST, 'Transfer-Encoding: chunked', ...headers) + chunks;
}

/** A request that an attacker tries to smuggle. */
export const SMUGGLED = get('/admin/smuggled');

/** Escapes control characters and non-ASCII bytes for a test title. */
export function printable(text: string): string {
  const short = text.length > 90 ? `${text.slice(0, 60)}… (${text.length} bytes)` : text;
  return JSON.stringify(short)
    .slice(1, -1)
    .replaceAll(/[\x7f-\uffff]/g, (character) =>
      character === '…' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
}

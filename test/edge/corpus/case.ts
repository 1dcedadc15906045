/**
 * What must come of a request. Each verdict also says what the upstream may see of it: see `VERDICTS` in
 * `../verdict.ts`, which is the one place where that is spelt out.
 */
export type Verdict =
  /** 400, the connection closes, nothing reaches the upstream. */
  | 'R400'
  /** The same behind a request that was good, whose answer it must not take; or the connection just closes. */
  | 'R400-or-cut'
  /** The same for what shows only in mid-body: the upstream may have seen a beginning, which is then cut. */
  | 'R400-body'
  /** Forwarded exactly once: path, query and body byte for byte. */
  | 'FWD'
  /** Forwarded like that, or refused; never anything between. */
  | 'framed-or-refused'
  /** The gateway answers by itself. */
  | '200-here'
  | '401'
  | '401-or-400'
  /** 401, or the connection closes before it. */
  | '401-or-cut'
  | '403'
  | '404'
  | '404-or-401'
  | '405'
  | '405-or-400'
  | '405-or-cut'
  | '413'
  | '415'
  | '417'
  | '417-or-FWD'
  | '431'
  | '505-or-400'
  /** A request that never ends: no answer is awaited, and nothing of it is taken for another request. */
  | 'unfinished';

/** One attack, or one thing that looks like an attack and is none. */
export interface Case {
  readonly name: string;
  /**
   * Latin-1. A list is written piece by piece, with a pause between. `{{token}}` stands for a valid token,
   * `{{guest}}` for one whose role is not allowed.
   */
  readonly bytes: string | readonly string[];
  /** One verdict for each request of the bytes, in their order. */
  readonly expect: Verdict | readonly Verdict[];
  /** The RFC and section, the advisory, or the research that it comes from. */
  readonly source: string;
  /** What the upstream gets, where the bytes do not say it themselves: the target, and the body. */
  readonly target?: string;
  readonly body?: string;
  /** Headers that the upstream gets, `name: value`, and names of those that it does not get. */
  readonly has?: readonly string[];
  readonly lacks?: readonly string[];
  /** The client is asked for the body by `100 Continue`. */
  readonly continues?: boolean;
}

export const HOST = 'Host: gateway.test';
export const TOKEN = 'Authorization: Bearer {{token}}';

/** A request without a body on a connection that the client would keep. */
export function get(target: string, ...headers: string[]): string {
  return request(`GET ${target} HTTP/1.1`, HOST, ...headers);
}

/** A head of these lines alone. */
export function request(...lines: string[]): string {
  return [...lines, '', ''].join('\r\n');
}

/** A request with a counted body. */
export function post(target: string, body: string, ...headers: string[]): string {
  return request(`POST ${target} HTTP/1.1`, HOST, `Content-Length: ${body.length}`, ...headers) + body;
}

/** A request whose body is framed by chunks, written as they are. */
export function postChunks(target: string, chunks: string, ...headers: string[]): string {
  return request(`POST ${target} HTTP/1.1`, HOST, 'Transfer-Encoding: chunked', ...headers) + chunks;
}

/** What an attacker would like to have taken for a request of its own. */
export const SMUGGLED = get('/admin/smuggled');

/** Text as it can stand in a test's name: control characters and bytes beyond ASCII written out. */
export function visible(text: string): string {
  const shown = text.length > 90 ? `${text.slice(0, 60)}… (${text.length} bytes)` : text;
  return JSON.stringify(shown)
    .slice(1, -1)
    .replaceAll(/[\x7f-\uffff]/g, (character) =>
      character === '…' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
}

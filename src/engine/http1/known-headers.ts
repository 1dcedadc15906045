import type { RawHeaders } from './raw-headers.ts';

/** The headers that determine the framing, the routing and the response of a message. The values of a repeated one are joined by commas. */
export interface KnownHeaders {
  readonly host: string | undefined;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  readonly contentLength: string | undefined;
  readonly transferEncoding: string | undefined;
  readonly connection: string | undefined;
  readonly keepAlive: string | undefined;
  readonly expect: string | undefined;
  readonly maxForwards: string | undefined;
  readonly origin: string | undefined;
  readonly traceparent: string | undefined;
  readonly upgrade: string | undefined;
  readonly via: string | undefined;
  /** True if one of the first five is repeated: servers disagree on which of them they use. */
  readonly isAmbiguous: boolean;
}

/** 1 for the lengths of the names. Changing the case of every name would measurably reduce the throughput. */
const LENGTHS = new Uint8Array(256);
for (const length of [3, 4, 6, 7, 10, 11, 12, 13, 14, 17]) LENGTHS[length] = 1;

/** Finds the headers in one pass. */
export function findKnownHeaders(headers: RawHeaders): KnownHeaders {
  const found = new FoundHeaders();
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] as string;
    if (LENGTHS[name.length] === 1) found.add(name.toLowerCase(), headers[index + 1] as string);
  }
  return found;
}

class FoundHeaders implements KnownHeaders {
  host: string | undefined = undefined;
  authorization: string | undefined = undefined;
  contentType: string | undefined = undefined;
  contentLength: string | undefined = undefined;
  transferEncoding: string | undefined = undefined;
  connection: string | undefined = undefined;
  keepAlive: string | undefined = undefined;
  expect: string | undefined = undefined;
  maxForwards: string | undefined = undefined;
  origin: string | undefined = undefined;
  traceparent: string | undefined = undefined;
  upgrade: string | undefined = undefined;
  via: string | undefined = undefined;
  isAmbiguous = false;

  add(name: string, value: string): void {
    if (name === 'host') this.host = this.#single(this.host, value);
    else if (name === 'authorization') this.authorization = this.#single(this.authorization, value);
    else if (name === 'content-type') this.contentType = this.#single(this.contentType, value);
    else if (name === 'content-length') this.contentLength = this.#single(this.contentLength, value);
    else if (name === 'transfer-encoding') this.transferEncoding = this.#single(this.transferEncoding, value);
    else if (name === 'connection') this.connection = join(this.connection, value);
    else if (name === 'keep-alive') this.keepAlive = join(this.keepAlive, value);
    else if (name === 'expect') this.expect = join(this.expect, value);
    else if (name === 'max-forwards') this.maxForwards = join(this.maxForwards, value);
    else if (name === 'origin') this.origin = join(this.origin, value);
    else if (name === 'traceparent') this.traceparent = join(this.traceparent, value);
    else if (name === 'upgrade') this.upgrade = join(this.upgrade, value);
    else if (name === 'via') this.via = join(this.via, value);
  }

  #single(previous: string | undefined, value: string): string {
    if (previous !== undefined) this.isAmbiguous = true;
    return join(previous, value);
  }
}

function join(previous: string | undefined, value: string): string {
  return previous === undefined ? value : `${previous}, ${value}`;
}

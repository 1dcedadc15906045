import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Fault } from './answer.ts';

export const MEGABYTE = 1024 * 1024;

/** The caller, as the bearer token tells. The role is carried, never checked: that is the gateway's part. */
export interface User {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly companyId: string;
}

/** One request, matched to a route. */
export interface Call {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The decoded `:name` segment of the route's pattern. */
  param(name: string): string;
  /** The whole body. Throws 413 over the limit. */
  bytes(limitBytes: number): Promise<Buffer<ArrayBuffer>>;
  /** The body as a JSON object. Throws 400 when it is anything else, 413 over the limit (1 MB unless told). */
  json(limitBytes?: number): Promise<Fields>;
}

/** A JSON object of which nothing is known yet. */
export type Fields = Readonly<Record<string, unknown>>;

export function createCall(request: IncomingMessage, target: URLSearchParams, path: string, params: Params): Call {
  return {
    path,
    query: target,
    headers: request.headers,
    param: (name) => decode(params[name] ?? ''),
    bytes: (limitBytes) => readBody(request, limitBytes),
    json: async (limitBytes = MEGABYTE) => parseObject(await readBody(request, limitBytes)),
  };
}

type Params = Readonly<Record<string, string | undefined>>;

/** A required member that is a text with something in it. */
export function text(fields: Fields, name: string): string {
  const value = optionalText(fields, name);
  if (value === undefined || value.trim() === '') throw new Fault(400, `"${name}" is required`);
  return value;
}

/** A member that may be missing or null, but if it is there it is a text. */
export function optionalText(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new Fault(400, `"${name}" must be a string`);
  return value;
}

/** A required e-mail address, in lower case: addresses are compared so throughout. */
export function email(fields: Fields, name: string): string {
  const value = text(fields, name).trim().toLowerCase();
  if (!isEmail(value)) throw new Fault(400, `"${name}" is not an e-mail address`);
  return value;
}

/** Whether a text looks like an address; only a mail could tell for certain. */
export function isEmail(value: string): boolean {
  return value.length <= 254 && /^[^\s@<>",;]+@[^\s@<>",;.]+(\.[^\s@<>",;.]+)+$/.test(value);
}

/** UTF-8 as text; bytes that are not UTF-8 are a fault, not replacement characters. */
export function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Fault(400, 'the body is not UTF-8');
  }
}

async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer<ArrayBuffer>> {
  const tooLarge = new Fault(413, `the body is larger than ${limitBytes} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge;
  const chunks: Buffer[] = [];
  let size = 0;
  // destroyOnReturn would take the socket along, and with it the 413
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += (chunk as Buffer).length;
    if (size > limitBytes) throw tooLarge;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

function parseObject(bytes: Uint8Array): Fields {
  let value: unknown;
  try {
    value = JSON.parse(utf8(bytes));
  } catch {
    throw new Fault(400, 'the body is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Fault(400, 'the body must be a JSON object');
  }
  return value as Fields;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Fault(400, 'the path is not well encoded');
  }
}

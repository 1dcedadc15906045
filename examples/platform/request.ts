import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type Fields, parseFields } from './fields.ts';
import { SandboxError, type SandboxResponse } from './response.ts';
import type { Store } from './store.ts';

/** The largest accepted body. */
const LIMIT_BYTES = 20 * 1024 * 1024;

/** The caller, from the bearer token. The gateway checks that the role may use it; the sandbox checks finer permissions. */
export interface SandboxUser {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly companyId: string;
}

/** A request that was matched to a route and read completely. */
export interface SandboxRequest {
  readonly store: Store;
  /** `HEAD` for a HEAD request, which has the route of GET. */
  readonly method: string;
  readonly path: string;
  /** The value of the path parameter `:id`. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The body as a JSON object. Throws 400 if it is not one. */
  readonly fields: Fields;
}

/** A request with a valid token. */
export interface AuthenticatedRequest extends SandboxRequest {
  readonly user: SandboxUser;
}

type MethodAndPath = `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`;
type MaybeAsyncResponse = SandboxResponse | Promise<SandboxResponse>;

/**
 * A route: method and URLPattern path, access, handler, and its description for OpenAPI. A GET route also handles HEAD.
 * `protected` requires a valid token, `admin` the token of a company administrator.
 */
export type SandboxRoute =
  | readonly [MethodAndPath, 'public', (request: SandboxRequest) => MaybeAsyncResponse, RouteDescription]
  | readonly [
      MethodAndPath,
      'protected' | 'admin',
      (request: AuthenticatedRequest) => MaybeAsyncResponse,
      RouteDescription,
    ];

export interface RouteDescription {
  readonly summary: string;
  /** A value of the path parameter `:id` that the seed data has. */
  readonly id?: string;
  readonly query?: readonly QueryParameter[];
  /** A valid body of each accepted media type: an object as JSON, or the text. */
  readonly body?: Readonly<Record<string, object | string>>;
  /** The status of a success. Default: 200. */
  readonly status?: number;
}

export type QueryParameter = 'page' | 'per_page' | 'search' | 'folder_id' | 'from' | 'to' | 'async' | 'token';

/** Returns the description of a JSON body by an example. */
export function jsonBody(example: object): Readonly<Record<string, object>> {
  return { 'application/json': example };
}

export async function readRequest(request: IncomingMessage, context: RequestContext): Promise<SandboxRequest> {
  const body = await readBody(request);
  return {
    ...context,
    headers: request.headers,
    body,
    get fields() {
      return parseFields(body);
    },
  };
}

type RequestContext = Pick<SandboxRequest, 'store' | 'method' | 'path' | 'id' | 'query'>;

/** Reads the body. Throws 400 if it is not UTF-8, and 413 if it is too large. */
async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  // `destroyOnReturn` would close the socket before the sandbox sends the 413.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += (chunk as Buffer).length;
    if (size > LIMIT_BYTES) throw new SandboxError(413, `the body is larger than ${LIMIT_BYTES} bytes`);
    chunks.push(chunk as Buffer);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new SandboxError(400, 'the body is not UTF-8');
  }
}

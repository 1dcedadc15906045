import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type Fields, parseFields } from './fields.ts';
import { SandboxError, type SandboxResponse } from './response.ts';
import type { Store } from './store.ts';

/** The largest accepted body. */
const LIMIT_BYTES = 20 * 1024 * 1024;

/** The caller, from the bearer token. The sandbox does not check the role; the gateway does. */
export interface SandboxUser {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly companyId: string;
}

/** A request that was matched to a route and read completely. */
export interface SandboxRequest {
  readonly store: Store;
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

/** A route: method and URLPattern path, access, and handler. A GET route also handles HEAD. */
export type SandboxRoute =
  | readonly [line: MethodAndPath, access: 'public', handle: (request: SandboxRequest) => MaybeAsyncResponse]
  | readonly [line: MethodAndPath, access: 'protected', handle: (request: AuthenticatedRequest) => MaybeAsyncResponse];

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

type RequestContext = Pick<SandboxRequest, 'store' | 'path' | 'id' | 'query'>;

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

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type Fields, parseFields } from './fields.ts';
import { SandboxError, type SandboxResponse } from './response.ts';
import type { Store } from './store.ts';

/** No body may be larger. */
const LIMIT_BYTES = 20 * 1024 * 1024;

/** The caller, as the bearer token tells. The role is carried, never checked: that is the gateway's part. */
export interface SandboxUser {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly companyId: string;
}

/** One request, matched to a route and read to its end, and what it is answered from. */
export interface SandboxRequest {
  readonly store: Store;
  readonly path: string;
  /** What stands in the path for the `:id` of the route. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The body as a JSON object. Throws 400 when it is anything else. */
  readonly fields: Fields;
}

/** A call with a valid token. */
export interface AuthenticatedRequest extends SandboxRequest {
  readonly user: SandboxUser;
}

type MethodAndPath = `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`;
type MaybeAsyncResponse = SandboxResponse | Promise<SandboxResponse>;

/** Method and URLPattern path, who may ask, and the answer. A GET route answers HEAD too. */
export type SandboxRoute =
  | readonly [line: MethodAndPath, access: 'public', answer: (call: SandboxRequest) => MaybeAsyncResponse]
  | readonly [line: MethodAndPath, access: 'protected', answer: (call: AuthenticatedRequest) => MaybeAsyncResponse];

export async function readRequest(request: IncomingMessage, target: RequestContext): Promise<SandboxRequest> {
  const body = await readBody(request);
  return {
    ...target,
    headers: request.headers,
    body,
    get fields() {
      return parseFields(body);
    },
  };
}

type RequestContext = Pick<SandboxRequest, 'store' | 'path' | 'id' | 'query'>;

/** The body in UTF-8. Throws 400 when it is not, 413 when it is too large. */
async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  // destroyOnReturn would take the socket along, and with it the 413
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

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type Answer, Fault } from './answer.ts';
import { type Fields, parseFields } from './fields.ts';
import type { Store } from './store.ts';

/** No body may be larger. */
const LIMIT_BYTES = 20 * 1024 * 1024;

/** The caller, as the bearer token tells. The role is carried, never checked: that is the gateway's part. */
export interface User {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly companyId: string;
}

/** One request, matched to a route and read to its end, and what it is answered from. */
export interface Call {
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
export interface UserCall extends Call {
  readonly user: User;
}

type Line = `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`;
type Answered = Answer | Promise<Answer>;

/** Method and URLPattern path, who may ask, and the answer. A GET route answers HEAD too. */
export type Route =
  | readonly [line: Line, access: 'public', answer: (call: Call) => Answered]
  | readonly [line: Line, access: 'protected', answer: (call: UserCall) => Answered];

export async function readCall(request: IncomingMessage, target: Target): Promise<Call> {
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

type Target = Pick<Call, 'store' | 'path' | 'id' | 'query'>;

/** The body in UTF-8. Throws 400 when it is not, 413 when it is too large. */
async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  // destroyOnReturn would take the socket along, and with it the 413
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += (chunk as Buffer).length;
    if (size > LIMIT_BYTES) throw new Fault(413, `the body is larger than ${LIMIT_BYTES} bytes`);
    chunks.push(chunk as Buffer);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new Fault(400, 'the body is not UTF-8');
  }
}

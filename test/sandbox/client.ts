import { createSandbox, type Sandbox } from '../../examples/platform/sandbox.ts';
import { eventually } from '../support/site.ts';

/** A response with its parsed body. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: responses of the sandbox have no types; the expectations check them
  readonly body: any;
}

/** The token, body and headers of a request. */
export interface RequestOptions {
  readonly token?: string;
  readonly json?: unknown;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function startSandbox(file = ':memory:'): Promise<Sandbox> {
  return createSandbox({ file, identityPort: 0, platformPort: 0 });
}

/** Sends a request such as `POST /path` to a server of the sandbox. */
export async function request(base: string, line: string, options: RequestOptions = {}): Promise<ApiResponse> {
  const [method = '', path = ''] = line.split(' ');
  const body = options.json === undefined ? options.body : JSON.stringify(options.json);
  const headers = {
    ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
    ...options.headers,
  };
  const response = await fetch(base + path, { method, headers, ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true && text !== '';
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

/** Returns an access token of a demo account without a second factor. */
export async function tokenOf(sandbox: Sandbox, email: string): Promise<string> {
  const account = sandbox.accounts.find((candidate) => candidate.email === email);
  const json = { email, password: account?.password };
  return (await request(sandbox.identityUrl, 'POST /api/v1/login', { json })).body.data.access_token;
}

/** Polls a job until it is completed or failed, and returns it. */
export async function finishedJob(base: string, line: string, token: string): Promise<ApiResponse['body']> {
  let job: ApiResponse['body'];
  await eventually(`the job at ${line} finishes`, async () => {
    job = (await request(base, line, { token })).body.data;
    return job.status === 'completed' || job.status === 'failed';
  });
  return job;
}

import { setTimeout } from 'node:timers/promises';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';

/** An answer as these tests look at it; a member that is not there is undefined, and the expectation fails. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the answers of a stand-in have no types, the expectations check them
  readonly body: any;
}

/** Members of a JSON body, or what `fetch` takes as it is. */
export interface Asked {
  readonly token?: string;
  readonly json?: unknown;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function openSandbox(file = ':memory:'): Promise<Sandbox> {
  return createSandbox({ file, identityPort: 0, platformPort: 0 });
}

/** `POST /path` at a server of the sandbox. */
export async function ask(base: string, line: string, asked: Asked = {}): Promise<Reply> {
  const [method = '', path = ''] = line.split(' ');
  const body = asked.json === undefined ? asked.body : JSON.stringify(asked.json);
  const headers = {
    ...(asked.token === undefined ? {} : { authorization: `Bearer ${asked.token}` }),
    ...asked.headers,
  };
  const response = await fetch(base + path, { method, headers, ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true && text !== '';
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

/** The access token of a demo account without a second factor. */
export async function tokenOf(sandbox: Sandbox, email: string): Promise<string> {
  const account = sandbox.accounts.find((candidate) => candidate.email === email);
  const json = { email, password: account?.password };
  return (await ask(sandbox.identityUrl, 'POST /api/v1/login', { json })).body.data.access_token;
}

/** Asks for the job until it is completed or failed. */
export async function settled(base: string, line: string, token: string): Promise<Reply['body']> {
  for (let tries = 0; tries < 400; tries += 1) {
    const { data } = (await ask(base, line, { token })).body;
    if (data.status === 'completed' || data.status === 'failed') return data;
    await setTimeout(20);
  }
  throw new Error('the job does not settle');
}

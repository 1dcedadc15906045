import { readFileSync } from 'node:fs';
import { createSandbox, type Sandbox } from '../../examples/platform/sandbox.ts';
import { startGateway, type TestGateway } from './gateway.ts';

export const MANIFEST = new URL('../../gateway.yaml', import.meta.url);

/** The sandbox behind a gateway that serves the project's own gateway.yaml. */
export interface Platform extends TestGateway {
  readonly sandbox: Sandbox;
  /** Sends a request to the gateway. A body that is not a string is sent as JSON. */
  call(
    method: string,
    path: string,
    options?: { token?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<Response>;
  /** Logs a demo account in through the gateway and returns its token. */
  login(email: string): Promise<string>;
  /** Logs a demo account in at the identity service, without the gateway, and returns its token. */
  tokenPastTheGateway(email: string): Promise<string>;
}

/** @param now the clock of rate limits */
export async function startPlatform(now?: () => number): Promise<Platform> {
  const sandbox = await createSandbox({ file: ':memory:', identityPort: 0, platformPort: 0 });
  const env = { ...sandbox.environment, LISTEN: '127.0.0.1:0' };
  const running = await startGateway(readFileSync(MANIFEST, 'utf8'), env, {}, undefined, now);
  const credentials = (email: string) => sandbox.accounts.find((account) => account.email === email);
  const tokenFrom = async (url: string, email: string) => {
    const { password } = credentials(email) ?? {};
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(`${url}/api/v1/login`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ email, password }),
    });
    const { data } = (await response.json()) as { data: { access_token: string } };
    return data.access_token;
  };
  return {
    ...running,
    sandbox,
    call: (method, path, { token, body, headers = {} } = {}) => {
      const isJson = body !== undefined && typeof body !== 'string';
      return fetch(running.url + path, {
        method,
        headers: {
          Accept: 'application/json',
          ...(isJson ? { 'Content-Type': 'application/json' } : {}),
          ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : (body as string) }),
      });
    },
    login: (email) => tokenFrom(running.url, email),
    tokenPastTheGateway: (email) => tokenFrom(sandbox.identityUrl, email),
    close: async () => {
      await running.close();
      await sandbox.close();
    },
  };
}

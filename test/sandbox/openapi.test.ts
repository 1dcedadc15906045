import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../examples/platform/sandbox.ts';
import { request, startSandbox, tokenOf } from './client.ts';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly security: readonly object[];
  readonly parameters: readonly { name: string; in: string; example?: string }[];
  readonly requestBody?: { readonly content: Record<string, { readonly example: object | string }> };
  readonly responses: Record<string, object>;
}

interface OpenApi {
  readonly openapi: string;
  readonly servers: readonly { url: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
}

let sandbox: Sandbox;
let token: string;
beforeAll(async () => {
  sandbox = await startSandbox();
  token = await tokenOf(sandbox, 'admin@acme.example');
});
afterAll(() => sandbox.close());

/** Operations that need a token, a code or an id of an earlier response, and the status without one. */
const NEED_EARLIER_RESPONSE: Readonly<Record<string, number>> = {
  'post-api-v1-login-mfa-totp': 401,
  'post-api-v1-login-mfa-email': 401,
  'post-api-v1-login-mfa-webauthn': 401,
  'post-api-v1-mfa-webauthn-confirm': 400,
  'post-authenticator-webauthn-get': 400,
  'post-api-v1-mfa-totp-confirm': 400,
  'post-api-v1-mfa-email-confirm': 400,
  'post-api-v1-password-reset': 404,
  'post-api-v1-email-verify': 404,
  'get-api-v1-email-verify': 400,
  'get-authenticator-id': 400,
  'get-api-contacts-imports-id': 404,
  'get-api-ai-jobs-id': 404,
  'get-api-edm-export-id': 404,
};

function formOf(example: object): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(example)) form.set(name, new File([value], 'example.csv'));
  return form;
}

function bodyOf(type: string, example: object | string): RequestInit {
  if (type === 'multipart/form-data') return { body: formOf(example as object) };
  const body = typeof example === 'string' ? example : JSON.stringify(example);
  return { body, headers: { 'content-type': type } };
}

describe.each(['identityUrl', 'platformUrl'] as const)('the OpenAPI document at %s', (server) => {
  it('describes each route with its access, and with examples that the sandbox accepts', async () => {
    const { body } = await request(sandbox[server], 'GET /openapi.json');
    const { openapi, servers, paths } = body as OpenApi;
    expect([openapi, servers]).toEqual(['3.1.0', [{ url: sandbox[server] }]]);
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
    );
    expect(operations.length).toBeGreaterThan(20);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    // A removal comes after the enrolments, which it undoes.
    const inOrder = operations.toSorted(
      (one, other) => Number(one.method === 'delete') - Number(other.method === 'delete'),
    );
    for (const { path, method, operationId, security, parameters, requestBody, responses } of inOrder) {
      const [parameter] = parameters.filter((each) => each.in === 'path');
      expect(path.includes('{id}')).toBe(parameter !== undefined);
      const url = sandbox[server] + path.replace('{id}', parameter?.example ?? 'unknown');
      const bodies = Object.entries(requestBody?.content ?? {}).map(([type, { example }]) => bodyOf(type, example));
      for (const init of bodies.length > 0 ? bodies : [{}]) {
        const send = (headers: object) =>
          fetch(url, { ...init, method: method.toUpperCase(), headers: { ...init.headers, ...headers } });
        const expected = NEED_EARLIER_RESPONSE[operationId] ?? Number(Object.keys(responses)[0]);
        if (security.length > 0) expect([operationId, (await send({})).status]).toEqual([operationId, 401]);
        const { status } = await send({ authorization: `Bearer ${token}` });
        expect([operationId, status]).toEqual([operationId, expected]);
      }
    }
  });
});

import type { StubResponse } from '../offline/recording-upstream.ts';
import { headerValue, type OfflineRequest } from '../offline/request-bytes.ts';
import type { CaseHeaders, CaseResponse, TestCase } from './test-file.generated.ts';

/** One request of a test case. A case with a list of roles has one request for each role. */
export interface TestRequest {
  readonly name: string;
  /** The index of the case in the test file. */
  readonly index: number;
  readonly testCase: TestCase;
  readonly role: string | undefined;
}

export function testRequestsOf(cases: readonly TestCase[]): TestRequest[] {
  return cases.flatMap((testCase, index) => {
    const { name, request } = testCase;
    if (!Array.isArray(request.role)) return [{ name, index, testCase, role: request.role }];
    return request.role.map((role) => ({ name: `${name} (${role})`, index, testCase, role }));
  });
}

export function requestOf({ request }: TestCase): OfflineRequest {
  const { method, url: target, body, bodyBytes } = request;
  const headers = flat(request.headers);
  if (bodyBytes !== undefined) return { method, target, headers, body: Buffer.alloc(bodyBytes, ' ') };
  return { method, target, ...withBody(headers, body) };
}

export function stubResponseOf(response: CaseResponse | undefined): StubResponse | undefined {
  if (response === undefined) return undefined;
  const { headers, body = Buffer.alloc(0) } = withBody(flat(response.headers), response.body);
  return { status: response.status, headers, body };
}

type Body = TestCase['request']['body'];

/** Adds the body to the headers. A map or a list is sent as JSON, with a `Content-Type` unless the headers have one. */
function withBody(headers: string[], body: Body): Pick<OfflineRequest, 'headers' | 'body'> {
  if (body === undefined || typeof body === 'string')
    return { headers, body: body === undefined ? undefined : Buffer.from(body) };
  const hasType = headerValue(headers, 'content-type') !== undefined;
  const typedHeaders = hasType ? headers : [...headers, 'Content-Type', 'application/json'];
  return { headers: typedHeaders, body: Buffer.from(JSON.stringify(body)) };
}

function flat(headers: CaseHeaders): string[] {
  return Object.entries(headers).flatMap(([name, values]) => [values].flat().flatMap((value) => [name, value]));
}

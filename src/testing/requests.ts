import type { StubResponse } from '../offline/recording-upstream.ts';
import { headerValue, type OfflineRequest } from '../offline/request-bytes.ts';
import type { CaseHeaders, CaseResponse, TestCase } from './test-file.generated.ts';

/** One request of a case: that of a case with a list of roles is made once for each of them. */
export interface TestRequest {
  readonly name: string;
  /** Of the case, in the suite. */
  readonly index: number;
  readonly testCase: TestCase;
  readonly role: string | undefined;
}

export function testRequestsOf(cases: readonly TestCase[]): TestRequest[] {
  return cases.flatMap((written, index) => {
    const { name, request } = written;
    if (!Array.isArray(request.role)) return [{ name, index, testCase: written, role: request.role }];
    return request.role.map((role) => ({ name: `${name} (${role})`, index, testCase: written, role }));
  });
}

export function requestOf({ request }: TestCase): OfflineRequest {
  const { method, url: target, body, bodyBytes } = request;
  const headers = flat(request.headers);
  if (bodyBytes !== undefined) return { method, target, headers, body: Buffer.alloc(bodyBytes, ' ') };
  return { method, target, ...withBody(headers, body) };
}

export function stubResponseOf(answer: CaseResponse | undefined): StubResponse | undefined {
  if (answer === undefined) return undefined;
  const { headers, body = Buffer.alloc(0) } = withBody(flat(answer.headers), answer.body);
  return { status: answer.status, headers, body };
}

type Body = TestCase['request']['body'];

/** A map or a list goes as JSON, and says so. */
function withBody(headers: string[], body: Body): Pick<OfflineRequest, 'headers' | 'body'> {
  if (body === undefined || typeof body === 'string')
    return { headers, body: body === undefined ? undefined : Buffer.from(body) };
  const isTyped = headerValue(headers, 'content-type') !== undefined;
  const typed = isTyped ? headers : [...headers, 'Content-Type', 'application/json'];
  return { headers: typed, body: Buffer.from(JSON.stringify(body)) };
}

function flat(headers: CaseHeaders): string[] {
  return Object.entries(headers).flatMap(([name, values]) => [values].flat().flatMap((value) => [name, value]));
}

import { durationMs } from '../../engine/manifest/units.ts';
import type { OfflineResponse } from '../offline/client.ts';
import type { Repetition } from '../offline/offline-gateway.ts';
import { headerValue, type OfflineRequest } from '../offline/request-bytes.ts';
import type { CaseHeaders, CaseResponse, TestCase } from './test-file.generated.ts';

export type TestRequest = ReturnType<typeof testRequestsOf>[number];

/** Returns the requests of test cases. A case with lists of methods, URLs and roles has one request for each combination. */
export function testRequestsOf(cases: readonly TestCase[]) {
  return cases.flatMap((testCase, index) => {
    const { method, url, role } = testCase.request;
    return [method].flat().flatMap((oneMethod) =>
      [url].flat().flatMap((oneUrl) =>
        [role].flat().map((oneRole) => {
          const listed = [
            ...(Array.isArray(method) ? [oneMethod] : []),
            ...(Array.isArray(url) ? [oneUrl] : []),
            ...(Array.isArray(role) ? [oneRole] : []),
          ];
          const name = listed.length === 0 ? testCase.name : `${testCase.name} (${listed.join(' ')})`;
          return { name, index, testCase, method: oneMethod, url: oneUrl, role: oneRole };
        }),
      ),
    );
  });
}

export function requestOf({ method, url: target, testCase }: TestRequest): OfflineRequest {
  const { body, bodyBytes } = testCase.request;
  const headers = flattenHeaders(testCase.request.headers);
  if (bodyBytes !== undefined) return { method, target, headers, body: Buffer.alloc(bodyBytes, ' ') };
  return { method, target, ...withBody(headers, body) };
}

export function repetitionOf({ times, wait }: TestCase['request']): Repetition {
  return { times, waitMs: wait === undefined ? 0 : durationMs(wait) };
}

export function stubResponseOf(response: CaseResponse | undefined): OfflineResponse | undefined {
  if (response === undefined) return undefined;
  const { headers, body = Buffer.alloc(0) } = withBody(flattenHeaders(response.headers), response.body);
  return { status: response.status, headers, body };
}

type Body = TestCase['request']['body'];

/** Returns the headers and the bytes of a body. Encodes a map or a list as JSON, and adds `Content-Type` if it is missing. */
function withBody(headers: string[], body: Body): Pick<OfflineRequest, 'headers' | 'body'> {
  if (body === undefined || typeof body === 'string')
    return { headers, body: body === undefined ? undefined : Buffer.from(body) };
  const hasType = headerValue(headers, 'content-type') !== undefined;
  const typedHeaders = hasType ? headers : [...headers, 'Content-Type', 'application/json'];
  return { headers: typedHeaders, body: Buffer.from(JSON.stringify(body)) };
}

function flattenHeaders(headers: CaseHeaders): string[] {
  return Object.entries(headers).flatMap(([name, values]) => [values].flat().flatMap((value) => [name, value]));
}

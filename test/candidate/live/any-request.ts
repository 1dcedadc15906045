import fc from 'fast-check';
import { anyUrl, matchingUrl } from '../../support/any-manifest.ts';

export const CALLERS = ['admin', 'user', 'guest', 'expired', 'foreign'] as const;
export type Caller = (typeof CALLERS)[number];

const commonHeader = fc.constantFrom(
  'X-Debug: 1',
  'X-Tenant: one',
  'X-Tenant: three',
  'X-Forwarded-For: 192.0.2.1',
  'X-Forwarded-Host: outside.example',
  'X-Request-Id: from-a-proxy',
  'Connection: close, X-Debug',
  'Origin: https://app.example',
  'Origin: https://other.example',
  'Access-Control-Request-Method: GET',
  // The response of the upstream.
  'X-Respond: login admin',
  'X-Respond: login guest',
  'X-Respond: login foreign',
  'X-Respond: 401',
  'X-Respond: events',
);

const rareHeader = fc.constantFrom(
  'x_debug: 2',
  'Transfer-Encoding: gzip',
  'Content-Encoding: gzip',
  'Upgrade: websocket',
  'Expect: wonders',
  'Host: two.example',
  'Authorization: Basic eA==',
  'Authorization: Bearer',
  `X-Long: ${'x'.repeat(600)}`,
  `X-Long: ${'x'.repeat(1_100)}`,
);

const header = fc.oneof({ weight: 12, arbitrary: commonHeader }, { weight: 1, arbitrary: rareHeader });
const rareTarget = fc.constantFrom('*', 'x', 'http://gateway.test/a', 'http://other.test/a');

/** How a client sends a request. */
const FORMS = ['plain', 'plain', 'plain', 'chunked', 'slow', 'expecting', 'handshake', 'preflight', 'leaving'] as const;

export const anyRequest = fc.record({
  method: fc.constantFrom(
    'GET',
    'GET',
    'GET',
    'POST',
    'POST',
    'POST',
    'HEAD',
    'PUT',
    'PUT',
    'DELETE',
    'OPTIONS',
    'TRACE',
  ),
  targetIn: fc.oneof(
    { weight: 20, arbitrary: matchingUrl },
    { weight: 6, arbitrary: anyUrl.map((url) => () => url) },
    { weight: 1, arbitrary: rareTarget.map((target) => () => target) },
  ),
  /** True if the target is made from the candidate. */
  isForCandidate: fc.boolean(),
  headers: fc.array(header, { maxLength: 3 }),
  type: fc.constantFrom(
    undefined,
    'application/json',
    'application/json',
    'application/json',
    'text/csv',
    'multipart/form-data; boundary=x',
  ),
  body: fc.constantFrom(
    undefined,
    undefined,
    '{"a":1}',
    '{"a":1}',
    '{"a":10,"b":"xy"}',
    '{"a":1,"a":2}',
    'a,b\r\n1,2\r\n',
    '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n',
    `{"a":1,"c":"${'x'.repeat(2_000)}"}`,
    `{"a":1,"c":"${'x'.repeat(70_000)}"}`,
  ),
  caller: fc.constantFrom<Caller | undefined>(
    undefined,
    'admin',
    'admin',
    'user',
    'user',
    'guest',
    'expired',
    'foreign',
  ),
  form: fc.constantFrom(...FORMS),
});

export type AnyRequest = typeof anyRequest extends fc.Arbitrary<infer Value> ? Value : never;

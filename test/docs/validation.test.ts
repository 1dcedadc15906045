import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { head, sendRequest } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const page = readFileSync(new URL('../../docs/validation.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text = '']) => ({
  language,
  text,
}));
const [manifest] = blocks.filter(({ language }) => language === 'yaml');
const requests = blocks.filter(({ language }) => language === 'http').map(({ text }) => text);
const responses = blocks.filter(({ language }) => language === 'json').map(({ text }) => text);

let upstream: Upstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway(manifest?.text ?? '', { ORDERS_URL: upstream.url, LISTEN: '127.0.0.1:0' });
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

/** Returns the bytes of an example request; a form has CRLF line ends. */
function bytesOf(example: string): { line: string; bytes: string; body: string } {
  const [first = '', ...rest] = example.split('\n\n');
  const [line = '', ...headers] = first.trim().split('\n');
  const isForm = headers.some((header) => header.includes('multipart'));
  const text = rest.join('\n\n');
  const body = isForm ? text.replaceAll('\n', '\r\n') : text;
  const framing = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return { line, bytes: head(`${line} HTTP/1.1`, ...headers, ...framing) + body, body };
}

describe('docs/validation.md', () => {
  it('shows a response to each request', () => {
    expect(requests.length).toBeGreaterThan(9);
    expect(responses).toHaveLength(requests.length);
  });

  it.each(requests.map((request, index) => [request.split('\n')[0], request, responses[index] ?? '']))(
    '%s',
    async (_line, request, response) => {
      upstream.requests.length = 0;
      const lines = gateway.lines.length;
      const { line, bytes, body } = bytesOf(request);
      const { reported, ...expected } = JSON.parse(response);
      const actual = await sendRequest(gateway.port, bytes);
      await eventually('the access line', () => gateway.lines.length > lines);
      expect(gateway.lines.at(-1)?.['reported']).toEqual(reported);
      const { status, code, errors } = actual.status === 200 ? { status: 200 } : actual.json();
      expect(JSON.parse(JSON.stringify({ status, code, errors }))).toEqual(expected);
      const forwarded = upstream.requests.map(({ method, url, body }) => [`${method} ${url}`, body.toString()]);
      expect(forwarded).toEqual(status === 200 ? [[line, body]] : []);
    },
  );
});

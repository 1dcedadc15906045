import { readFileSync } from 'node:fs';
import {
  trace as api,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  type TracerProvider,
} from '@opentelemetry/api';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createGateway, type Gateway } from '../../src/engine/gateway/gateway.ts';
import { readTraceparent } from '../../src/engine/gateway/telemetry/trace.ts';
import { createNullLog } from '../../src/engine/log/log.ts';
import { findRequestTracer } from '../../src/process/telemetry/opentelemetry.ts';
import { manifest, PUBLIC_ALL, startGateway } from '../support/gateway.ts';
import { head, sendRequest } from '../support/raw.ts';
import { eventually, type Site, startSite } from '../support/site.ts';
import { startUpstream } from '../support/upstream.ts';

const ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const TRACEPARENT = `00-${ID}-${SPAN}-01`;

let site: Site;

/** Returns the values of a header in a flat list of names and values. */
function valuesOf(headers: readonly string[], name: string): string[] {
  return headers.filter((_text, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === name);
}

beforeAll(async () => {
  site = await startSite(PUBLIC_ALL);
});
afterAll(() => site.close());
beforeEach(() => {
  site.upstream.requests.length = 0;
  site.gateway.lines.length = 0;
});

/** Sends a request; returns the trace headers that the upstream receives, and the access line. */
async function sendTraced(...headers: string[]) {
  await site.get('/x', ...headers);
  await eventually('the access line', () => site.gateway.lines.length === 1);
  const received = site.upstream.requests[0]?.headers ?? [];
  const [traceparent = '', ...more] = valuesOf(received, 'traceparent');
  expect(more).toEqual([]);
  return {
    parent: readTraceparent(traceparent),
    line: site.gateway.lines[0],
    states: valuesOf(received, 'tracestate'),
  };
}

describe('a trace', () => {
  it('continues with a new parent span and an unchanged tracestate', async () => {
    const { parent, line, states } = await sendTraced(
      `traceparent: ${TRACEPARENT}`,
      'tracestate: a=1,b=2',
      'TraceState: c=3',
    );
    expect(parent).toEqual({ traceId: ID, spanId: expect.not.stringMatching(SPAN), flags: '01' });
    expect(line?.['trace']).toBe(ID);
    expect(states).toEqual(['a=1,b=2', 'c=3']);
  });

  it('keeps the sampling decision of its caller', async () => {
    expect((await sendTraced(`Traceparent: 00-${ID}-${SPAN}-00`)).parent?.flags).toBe('00');
  });

  it('of a later version continues with its known fields', async () => {
    expect((await sendTraced(`traceparent: cc-${ID}-${SPAN}-01-more`)).parent?.traceId).toBe(ID);
  });

  it.each([
    [],
    [`traceparent: ${TRACEPARENT}`, `traceparent: ${TRACEPARENT}`],
    [`traceparent: ${TRACEPARENT}-more`],
    [`traceparent: ff-${ID}-${SPAN}-01`],
    [`traceparent: 00-${'0'.repeat(32)}-${SPAN}-01`],
    [`traceparent: 00-${ID}-${'0'.repeat(16)}-01`],
    [`traceparent: 00-${ID.toUpperCase()}-${SPAN}-01`],
    ['traceparent: SENTINEL'],
  ])('starts with a new id without a valid traceparent: %j', async (...headers) => {
    const { parent, line, states } = await sendTraced(...headers, 'tracestate: a=1');
    expect(parent?.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(parent?.traceId).not.toBe(ID);
    expect([line?.['trace'], states]).toEqual([parent?.traceId, []]);
    expect(line?.['trace']).toBe(String(line?.['id']).replaceAll('-', ''));
  });

  it('is sampled at the rate of the manifest', async () => {
    for (const [sample, flags] of [
      [0, '00'],
      [1, '01'],
    ]) {
      const text = manifest(PUBLIC_ALL, { up: site.upstream.url });
      const other = await startGateway(`${text}tracing: { sample: ${sample} }\n`);
      await sendRequest(other.port, head('GET /x HTTP/1.1'));
      await other.close();
      const traceparent = valuesOf(site.upstream.requests.at(-1)?.headers ?? [], 'traceparent')[0];
      expect(readTraceparent(traceparent ?? '')?.flags).toBe(flags);
    }
  });
});

interface RecordedSpan {
  name: string;
  readonly kind: SpanKind | undefined;
  readonly parent: string | undefined;
  readonly attributes: Record<string, unknown>;
  isError: boolean;
  isEnded: boolean;
  readonly spanId: string;
}

describe('with an OpenTelemetry SDK', () => {
  const spans: RecordedSpan[] = [];
  let gateway: Gateway | undefined;

  /** Starts a span that records every call, as a minimal SDK does. It is not recorded if its parent is not sampled. */
  function startSpan(name: string, { kind, attributes = {} }: SpanOptions, context: Context): Span {
    const parent = api.getSpanContext(context);
    const spanId = `${spans.length + 1}`.padStart(16, '0');
    const record: RecordedSpan = {
      name,
      kind,
      parent: parent?.spanId,
      attributes: { ...attributes },
      isError: false,
      isEnded: false,
      spanId,
    };
    const traceFlags = parent?.traceFlags ?? 1;
    if (traceFlags === 1) spans.push(record);
    const span: Partial<Span> = {
      spanContext: () => ({ traceId: parent?.traceId ?? 'a'.repeat(32), spanId, traceFlags }),
      setAttribute: (key, value) => update({ attributes: { ...record.attributes, [key]: value } }),
      setAttributes: (more) => update({ attributes: { ...record.attributes, ...more } }),
      updateName: (next) => update({ name: next }),
      setStatus: ({ code }) => update({ isError: code === 2 }),
      end: () => void update({ isEnded: true }),
    };
    const update = (more: Partial<RecordedSpan>) => Object.assign(record, more) && (span as Span);
    return span as Span;
  }

  afterEach(async () => {
    api.disable();
    spans.length = 0;
    await gateway?.close(0);
    gateway = undefined;
  });

  const start = (up: string, env: Record<string, string> = {}, tracing = '') =>
    startPlan(manifest(PUBLIC_ALL.replace('/**', "'/things/{id}'"), { up }) + tracing, env);

  const startPlan = async (text: string, env: Record<string, string> = {}) => {
    api.setGlobalTracerProvider({ getTracer: () => ({ startSpan, startActiveSpan: () => undefined as never }) });
    const { gateway: other, close } = await startGateway(text, env);
    await close();
    gateway = createGateway(other.plan, createNullLog(), { tracer: findRequestTracer('1') });
    return (await gateway.listen()).port;
  };

  it('a request has a server span, and a client span whose id the upstream receives', async () => {
    const port = await start(site.upstream.url);
    await sendRequest(port, head('GET /things/7?secret=1 HTTP/1.1', `traceparent: ${TRACEPARENT}`));
    await eventually('the spans', () => spans.length === 2 && spans.every(({ isEnded }) => isEnded));
    const [serverSpan, clientSpan] = spans;
    expect(serverSpan).toMatchObject({ name: 'GET /things/{id}', kind: SpanKind.SERVER, parent: SPAN, isError: false });
    expect(serverSpan?.attributes).toMatchObject({ 'http.route': '/things/{id}', 'http.response.status_code': 200 });
    expect(clientSpan).toMatchObject({ kind: SpanKind.CLIENT, parent: serverSpan?.spanId });
    const traceparent = valuesOf(site.upstream.requests.at(-1)?.headers ?? [], 'traceparent')[0];
    expect(traceparent).toBe(`00-${ID}-${clientSpan?.spanId}-01`);
    expect(JSON.stringify(spans)).not.toContain('secret');
  });

  it('a request over a rate limit has the name of the limit', async () => {
    const text = manifest(PUBLIC_ALL.replace(' }', ', rateLimits: [once] }'), { up: site.upstream.url });
    const port = await startPlan(`${text}rateLimits: { once: { key: client, allow: 1 per 1h } }\n`);
    for (let count = 0; count < 2; count += 1) await sendRequest(port, head('GET /things/7 HTTP/1.1'));
    await eventually('the spans', () => spans.length === 3 && spans.every(({ isEnded }) => isEnded));
    expect(spans[0]?.attributes).not.toHaveProperty('signing_gateway.rate_limit');
    const refused = { 'error.type': 'rate_limit_exceeded', 'signing_gateway.rate_limit': 'once' };
    expect(spans[2]).toMatchObject({ kind: SpanKind.SERVER, isError: false, attributes: refused });
  });

  it('the manifest selects the new traces, and the client those that it started', async () => {
    const port = await start(site.upstream.url, {}, 'tracing: { sample: 0 }\n');
    const flagsOf = async (...headers: string[]) => {
      await sendRequest(port, head('GET /things/7 HTTP/1.1', ...headers));
      const [traceparent = '', ...more] = valuesOf(site.upstream.requests.at(-1)?.headers ?? [], 'traceparent');
      expect(more).toEqual([]);
      return readTraceparent(traceparent)?.flags;
    };
    expect([await flagsOf(), await flagsOf('traceparent: nonsense'), spans]).toEqual(['00', '00', []]);
    expect([await flagsOf(`traceparent: 00-${ID}-${SPAN}-00`), spans]).toEqual(['00', []]);
    expect(await flagsOf(`traceparent: ${TRACEPARENT}`)).toBe('01');
    expect(spans.map(({ kind }) => kind)).toEqual([SpanKind.SERVER, SpanKind.CLIENT]);
  });

  it('as many new traces are recorded as the manifest states', async () => {
    const port = await start(site.upstream.url, {}, 'tracing: { sample: 0.5 }\n');
    const responses = await Promise.all(
      Array.from({ length: 200 }, () => sendRequest(port, head('GET /things/7 HTTP/1.1'))),
    );
    expect(responses.every(({ status }) => status === 200)).toBe(true);
    const marked = site.upstream.requests.filter(({ headers }) => valuesOf(headers, 'traceparent')[0]?.endsWith('-01'));
    expect(spans.length).toBe(2 * marked.length);
    // A share of one half leaves this range once in 10^12 runs.
    expect(marked.length).toBeGreaterThan(50);
    expect(marked.length).toBeLessThan(150);
  });

  it('a failed request marks its span as an error', async () => {
    const port = await start('http://127.0.0.1:9');
    await sendRequest(port, head('GET /things/7 HTTP/1.1'));
    await eventually('the spans', () => spans.length === 2 && spans.every(({ isEnded }) => isEnded));
    expect(spans[0]).toMatchObject({
      parent: undefined,
      isError: true,
      attributes: { 'error.type': 'upstream_unreachable' },
    });
  });

  it('spans have the attributes of the semantic conventions', async () => {
    const port = await start(site.upstream.url);
    await sendRequest(port, 'GET /things/7?secret=1 HTTP/1.1\r\nHost: API.example:8443\r\nConnection: close\r\n\r\n');
    await eventually('the spans', () => spans.length === 2 && spans.every(({ isEnded }) => isEnded));
    expect(spans.map(({ attributes }) => attributes)).toEqual([
      {
        'http.request.method': 'GET',
        'http.response.status_code': 200,
        'http.route': '/things/{id}',
        'url.scheme': 'http',
        // As in the log: the path of a public route with parameters may be a secret.
        'url.path': expect.stringMatching(/^\/things\/[1-689]$/),
        'server.address': 'api.example',
        'server.port': 8443,
        'client.address': '127.0.0.1',
        'network.peer.address': '127.0.0.1',
        'network.protocol.version': '1.1',
        'signing_gateway.route': 'all',
      },
      {
        'http.request.method': 'GET',
        'http.response.status_code': 200,
        'server.address': '127.0.0.1',
        'server.port': Number(new URL(site.upstream.url).port),
        'signing_gateway.upstream': 'up',
      },
    ]);
    const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
    for (const [index, name] of ['server', 'client'].entries()) {
      const [, documented = ''] = new RegExp(`^\\| ${name} \\| (.*) \\|$`, 'm').exec(page) ?? [];
      for (const attribute of Object.keys(spans[index]?.attributes ?? {}))
        expect(documented).toContain(`\`${attribute}\``);
    }
  });

  it('the port of a span is that of the scheme by default, and an IPv6 address has no brackets', async () => {
    const port = await start(site.upstream.url);
    await sendRequest(port, 'GET /things/7 HTTP/1.1\r\nHost: [::1]\r\nConnection: close\r\n\r\n');
    expect(spans[0]?.attributes).toMatchObject({ 'server.address': '::1', 'server.port': 80 });
  });

  it('a span of a unix socket has its path', async () => {
    const port = await start('unix:/run/none/app.sock');
    await sendRequest(port, head('GET /things/7 HTTP/1.1'));
    await eventually('the spans', () => spans.length === 2 && spans.every(({ isEnded }) => isEnded));
    expect(spans[1]?.attributes).toMatchObject({ 'server.address': '/run/none/app.sock' });
    expect(spans[1]?.attributes).not.toHaveProperty('server.port');
  });

  it('a span never has an invented method or a value of the environment', async () => {
    const port = await start('${UP_URL}', { UP_URL: site.upstream.url });
    await sendRequest(port, head('PROPFIND /things/7 HTTP/1.1'));
    expect(spans[0]).toMatchObject({ name: 'HTTP', attributes: { 'http.request.method': '_OTHER' } });
    await sendRequest(port, head('GET /things/7 HTTP/1.1'));
    await eventually('the spans', () => spans.length === 3 && spans.every(({ isEnded }) => isEnded));
    expect(spans[2]?.attributes['server.address']).toBe('${UP_URL}');
    expect(JSON.stringify(spans)).not.toContain(new URL(site.upstream.url).host);
  });

  it('a 4xx of the upstream is an error only for the client span', async () => {
    const upstream = await startUpstream((_request, response) => response.writeHead(404).end());
    const port = await start(upstream.url);
    await sendRequest(port, head('GET /things/7 HTTP/1.1'));
    await eventually('the spans', () => spans.length === 2 && spans.every(({ isEnded }) => isEnded));
    expect(spans.map(({ isError }) => isError)).toEqual([false, true]);
    await upstream.close();
  });

  it('the remaining spans are exported before the process exits, and a failed export is ignored', async () => {
    const startActiveSpan = () => undefined as never;
    const flushes: string[] = [];
    const provider = (forceFlush: () => Promise<void>) =>
      api.setGlobalTracerProvider({ getTracer: () => ({ startSpan, startActiveSpan }), forceFlush } as TracerProvider);
    provider(async () => void flushes.push('flushed'));
    await findRequestTracer('1')?.flush();
    expect(flushes).toEqual(['flushed']);
    api.disable();
    provider(() => Promise.reject(new Error('no collector')));
    await findRequestTracer('1')?.flush();
    api.disable();
    await findRequestTracer('1')?.flush();
  });

  it('no span is recorded without a registered provider', () => {
    expect(findRequestTracer('1')).toBeUndefined();
    expect(api.getSpanContext(ROOT_CONTEXT)).toBeUndefined();
  });
});

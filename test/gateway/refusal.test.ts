import { STATUS_CODES } from 'node:http';
import { describe, expect, it } from 'vitest';
import { REFUSALS, Refusal, type RefusalCode } from '../../src/engine/gateway/response/refusal.ts';
import { rawRefusal } from '../../src/engine/gateway/response/refuse.ts';
import { readMessage, valuesOf } from '../support/message.ts';

const CODES = Object.keys(REFUSALS) as RefusalCode[];

describe.each(CODES)('%s', (code) => {
  const { status, title, detail } = REFUSALS[code];

  it('has an HTTP status, a title and a detail', () => {
    expect(STATUS_CODES[status]).toBeDefined();
    expect(status).toBeGreaterThanOrEqual(400);
    expect(title).toMatch(/^[A-Z][A-Za-z ]+$/);
    expect(detail).toMatch(/^[a-z].*[^.]$/);
  });

  it('is rendered as problem+json', () => {
    const refusal = new Refusal(code);
    expect(refusal.status).toBe(status);
    expect(JSON.parse(refusal.body('an-id'))).toEqual({
      type: `urn:signing-gateway:refusal:${code}`,
      title,
      status,
      detail,
      code,
      message: detail,
      request_id: 'an-id',
    });
  });

  it('accepts a detail, headers and errors, and omits its reason from the body', () => {
    const errors = [{ pointer: '/a', message: 'is missing' }];
    const refusal = new Refusal(code, { detail: 'só "so"\n', errors, reason: 'secret', headers: { Allow: 'GET' } });
    const body = JSON.parse(refusal.body('id'));
    expect(body).toMatchObject({ detail: 'só "so"\n', message: 'só "so"\n', errors });
    expect(JSON.stringify(body)).not.toContain('secret');
    expect([refusal.reason, refusal.headers]).toEqual(['secret', { Allow: 'GET' }]);
  });

  it('is rendered as a complete message without a request', () => {
    const refusal = new Refusal(code, { detail: 'ünïcode €', headers: { 'Retry-After': '5', Allow: 'GET, HEAD' } });
    const bytes = Buffer.from(rawRefusal(refusal, 'an-id', false, []));
    const message = readMessage(bytes);
    expect(message?.size).toBe(bytes.length);
    expect(message?.line).toBe(`HTTP/1.1 ${status} ${STATUS_CODES[status]}`);
    const headers = message?.headers ?? [];
    expect(valuesOf(headers, 'content-type')).toEqual(['application/problem+json']);
    expect(valuesOf(headers, 'connection')).toEqual(['close']);
    expect(valuesOf(headers, 'cache-control')).toEqual(['no-store']);
    expect(valuesOf(headers, 'retry-after')).toEqual(['5']);
    expect(valuesOf(headers, 'allow')).toEqual(['GET, HEAD']);
    expect(JSON.parse(String(message?.body))).toMatchObject({ code, status, request_id: 'an-id', detail: 'ünïcode €' });
  });
});

it('the refusals cover every status of the design and have unique titles', () => {
  const statuses = new Set<number>(CODES.map((code) => REFUSALS[code].status));
  for (const status of [400, 401, 403, 404, 405, 413, 415, 431, 502, 503, 504]) expect(statuses).toContain(status);
  expect(new Set(CODES.map((code) => REFUSALS[code].title)).size).toBe(CODES.length);
});

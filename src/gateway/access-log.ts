import fastJson from 'fast-json-stringify';
import type { Exchange } from './exchange.ts';

/**
 * One JSON line for each request, made by a compiled serializer: an object call of the logger would cost 25
 * times as much. Secrets are kept out by construction: no header, no query and no body is ever put in.
 */
export function accessLine(exchange: Exchange): string {
  const { request, response, refusal, route } = exchange;
  return stringify({
    level: 30,
    time: Date.now(),
    msg: 'request',
    id: exchange.id,
    method: request.method,
    path: exchange.target?.path,
    route: route?.id,
    upstream: route?.upstream.id,
    status: response.headersSent ? response.statusCode : undefined,
    refusal: refusal?.code,
    reason: refusal?.reason,
    aborted: response.writableFinished ? undefined : true,
    ms: round(exchange.elapsedMs()),
    upstreamMs:
      exchange.answeredAt === undefined ? undefined : round(exchange.answeredAt - (exchange.forwardedAt ?? 0)),
    peer: request.socket?.remoteAddress,
  });
}

const text = { type: 'string' } as const;
const number = { type: 'number' } as const;

const stringify = fastJson({
  type: 'object',
  properties: {
    level: number,
    time: number,
    msg: text,
    id: text,
    method: text,
    path: text,
    route: text,
    upstream: text,
    status: number,
    refusal: text,
    reason: text,
    aborted: { type: 'boolean' },
    ms: number,
    upstreamMs: number,
    peer: text,
  },
});

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

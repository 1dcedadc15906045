import type { Route } from '../../plan/route-definition.ts';
import type { Exchange } from '../exchange.ts';
import type { Refusal } from '../response/refusal.ts';

/**
 * One JSON line for each request, put together by hand: an object call of the logger would cost 25 times as
 * much. Secrets are kept out by construction: no header, no query and no body is ever put in. A method that was
 * parsed, a path that the guard has passed and an address hold nothing that JSON would escape; what else a client
 * wrote is escaped.
 *
 * @param ms from the request's head to its end
 * @param sampled the share of such requests that have a line
 */
export function accessLogLine(exchange: Exchange, ms: number, sampled: number): string {
  const { request, response, connection, forwardedInfo, refusal, route } = exchange;
  const { respondedAfterMs, forwardedAfterMs, receivedBytes, sentBytes, retries } = exchange;
  let line = `{"level":30,"time":${Date.now()},"msg":"request","id":"${exchange.id}"`;
  if (exchange.trace !== undefined) line += `,"trace":"${exchange.trace.id}"`;
  line += `,"method":"${request.method}"`;
  if (exchange.target !== undefined) line += `,"path":"${exchange.target.path}"`;
  if (route !== undefined) line += `,"route":"${route.id}","upstream":"${route.upstream.id}"`;
  const subject = exchange.principal?.subject;
  if (subject !== undefined) line += `,"subject":"${subject}"`;
  if (exchange.isTunnel) line += ',"status":101';
  else if (response.headersSent) line += `,"status":${response.statusCode}`;
  if (refusal !== undefined) line += refusalMembers(refusal, route);
  if (exchange.reportedRefusals !== undefined) {
    line += `,"reported":${JSON.stringify(exchange.reportedRefusals.map((refusal) => reportedRefusalOf(refusal, route)))}`;
  }
  if (!response.writableFinished && !exchange.isTunnel)
    line += connection.isStalled ? ',"aborted":true,"stalled":true' : ',"aborted":true';
  if (receivedBytes > 0) line += `,"bytesIn":${receivedBytes}`;
  if (sentBytes > 0) line += `,"bytesOut":${sentBytes}`;
  line += `,"ms":${roundedMs(ms)}`;
  if (forwardedAfterMs !== undefined) line += `,"gatewayMs":${roundedMs(forwardedAfterMs)}`;
  if (respondedAfterMs !== undefined) line += `,"upstreamMs":${roundedMs(respondedAfterMs - (forwardedAfterMs ?? 0))}`;
  if (retries > 0) line += `,"retries":${retries}`;
  line += connection.peer === undefined ? ',"peer":null' : `,"peer":"${connection.peer}"`;
  if (forwardedInfo?.client !== undefined) line += `,"client":${JSON.stringify(forwardedInfo.client)}`;
  return sampled < 1 ? `${line},"sampled":${sampled}}` : `${line}}`;
}

/** The share of requests like this one that have a line: nothing is left out but what went well. */
export function sampleRateOf({ request, response, reportedRefusals, isTunnel }: Exchange, sample2xx: number): number {
  const { statusCode } = response;
  const isWell = response.writableFinished && statusCode >= 200 && statusCode < 300;
  return isWell && reportedRefusals === undefined && !isTunnel && request.complete ? sample2xx : 1;
}

/** Where it is at fault, without a name that the client made up. */
function reportedRefusalOf({ code, pointers }: Refusal, route: Route | undefined): object {
  const isOwn = (step: string) => route?.isManifestName(step.replaceAll('~1', '/').replaceAll('~0', '~')) === true;
  const plain = (step: string) => step === '' || INDEX.test(step) || isOwn(step);
  const told = (pointer: string) =>
    pointer
      .split('/')
      .map((step) => (plain(step) ? step : '*'))
      .join('/');
  return { code, pointers: pointers.map(told) };
}

/** Of a list; a longer number may be anything. */
const INDEX = /^\d{1,6}$/;

/** What was refused, why, and what was required: the answer itself tells less of it. */
function refusalMembers({ code, reason }: Refusal, route: Route | undefined): string {
  const why = `,"decision":"refused","refusal":"${code}","reason":${JSON.stringify(reason)}`;
  return route?.auth === undefined ? why : `${why},"required":${JSON.stringify(route.auth.role.redactedRoles)}`;
}

/** The line of bytes that were no request, or no request to this server: nothing of theirs is put in. */
export function refusedConnectionLine(id: string, refusal: Refusal, peer: string | undefined): string {
  const { status, code, reason } = refusal;
  const decided = { decision: 'refused', refusal: code, reason };
  return JSON.stringify({ level: 30, time: Date.now(), msg: 'request', id, status, ...decided, peer });
}

function roundedMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

import type { Route } from '../../plan/route-definition.ts';
import type { Refusal } from '../response/refusal.ts';
import type { ReplayFacts, RequestRecord } from './request-record.ts';

/**
 * Returns the JSON line of a request. Concatenating strings is 25 times as fast as calling the logger with an object.
 *
 * The record has no header, query or body, so no secret can reach the log. A parsed method, a validated path and an
 * address contain no character that JSON escapes; every other text from a client is escaped here.
 *
 * @param sampled the share of requests like this one that are logged
 * @param worker the index of the worker if the process has several
 */
export function accessLogLine(record: RequestRecord, sampled: number, worker?: number): string {
  const { route, subject, issuer, status, refusal, reported, durationMs, forwardedAfterMs, respondedAfterMs } = record;
  let line = `{"level":30,"time":${record.time},"msg":"request","id":"${record.id}"`;
  if (record.traceId !== undefined) line += `,"trace":"${record.traceId}"`;
  if (record.method !== undefined) line += `,"method":"${record.method}"`;
  if (record.path !== undefined) line += `,"path":"${record.path}"`;
  if (record.refusedPath !== undefined) line += `,"refusedPath":${JSON.stringify(record.refusedPath)}`;
  if (record.isPathKeyed) line += ',"keyed":true';
  if (route !== undefined) line += `,"route":"${route.id}"`;
  if (route?.upstream !== undefined) line += `,"upstream":"${route.upstream.id}"`;
  if (subject !== undefined) line += `,"subject":"${subject}"`;
  if (issuer !== undefined) line += `,"issuer":"${issuer}"`;
  if (status !== undefined) line += `,"status":${status}`;
  if (refusal !== undefined) line += refusalMembers(refusal, route);
  if (reported !== undefined) line += `,"reported":${JSON.stringify(reported)}`;
  if (record.isAborted) line += record.isStalled ? ',"aborted":true,"stalled":true' : ',"aborted":true';
  if (record.receivedBytes > 0) line += `,"bytesIn":${record.receivedBytes}`;
  if (record.sentBytes > 0) line += `,"bytesOut":${record.sentBytes}`;
  if (durationMs !== undefined) line += `,"ms":${Math.round(durationMs * 1000) / 1000}`;
  if (forwardedAfterMs !== undefined) line += `,"gatewayMs":${Math.round(forwardedAfterMs * 1000) / 1000}`;
  if (respondedAfterMs !== undefined)
    line += `,"upstreamMs":${Math.round((respondedAfterMs - (forwardedAfterMs ?? 0)) * 1000) / 1000}`;
  if (record.retries > 0) line += `,"retries":${record.retries}`;
  line += record.peer === undefined ? ',"peer":null' : `,"peer":"${record.peer}"`;
  if (record.client !== undefined) line += `,"client":${JSON.stringify(record.client)}`;
  if (worker !== undefined) line += `,"worker":${worker}`;
  if (record.replay !== undefined) line += replayMembers(record.replay);
  return sampled < 1 ? `${line},"sampled":${sampled}}` : `${line}}`;
}

/** A valid host and a name of a media type contain no character that JSON escapes. */
function replayMembers(facts: ReplayFacts): string {
  const { manifest, roles, credential, mediaType, queryNames, host, kind } = facts;
  let members = `,"manifest":"${manifest}"`;
  if (roles !== undefined) members += `,"role":${roleMember(roles)}`;
  if (credential !== undefined) members += `,"credential":"${credential}"`;
  if (mediaType !== undefined) members += `,"type":"${mediaType}"`;
  if (queryNames !== undefined)
    members += queryNames.length === 0 ? ',"query":[]' : `,"query":${JSON.stringify(queryNames)}`;
  if (host !== undefined) members += `,"host":"${host}"`;
  if (kind !== undefined) members += `,"kind":"${kind}"`;
  return members;
}

/** The role itself if there is one. A role of the manifest that is named `other` is in a list. */
function roleMember(roles: readonly string[]): string {
  if (roles.length === 0) return '"other"';
  return JSON.stringify(roles.length === 1 && roles[0] !== 'other' ? roles[0] : roles);
}

/** Returns the share of requests like this one to log: 1 unless the response is a complete 2xx without a reported refusal. */
export function sampleRateOf(record: RequestRecord, sample2xx: number): number {
  const { status = 0, isAborted, isRequestComplete, reported } = record;
  const isSampled = !isAborted && isRequestComplete && reported === undefined && status >= 200 && status < 300;
  return isSampled ? sample2xx : 1;
}

/** Returns the members for a refusal. Only the log has the reason and the required roles, never the response. */
function refusalMembers({ code, reason, limit }: Refusal, route: Route | undefined): string {
  const named = limit === undefined ? '' : `,"limit":"${limit}"`;
  const members = `,"decision":"refused","refusal":"${code}","reason":${JSON.stringify(reason)}${named}`;
  return route?.auth === undefined ? members : `${members},"required":${JSON.stringify(route.auth.role.redactedRoles)}`;
}

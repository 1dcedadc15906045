import type { RefusalCode } from '../../engine/gateway/response/refusal.ts';
import { foldHeaderName } from '../../engine/header-names.ts';
import { BODYLESS_METHODS } from '../../engine/http1/http-methods.ts';
import { isJsonType, mediaTypeMatcher } from '../../engine/validation/media-type.ts';
import { UnknownFact, type UnknownReason } from '../outcome.ts';
import type { LoggedFacts } from './logged-facts.ts';
import type { ParameterRuleTexts, RouteRules } from './route-rules.ts';

/** `valid` or `invalid` for certain; otherwise the fact that is not known. */
export type CheckResult = 'valid' | 'invalid' | UnknownReason;

/** Validates the parameters of a logged request, whose values are not known: only by the rules that it has `satisfied`, if any. */
export function checkParameters(rules: RouteRules, facts: LoggedFacts, satisfied: RouteRules | undefined): CheckResult {
  const results = [
    isSame(rules, satisfied, 'params', checkPath(rules, facts.knownPath)),
    isSame(rules, satisfied, 'query', checkQuery(rules, facts.request.queryNames, satisfied)),
    isSame(rules, satisfied, 'headers', checkHeaders(rules, satisfied)),
  ];
  return results.find((result) => result === 'invalid') ?? results.find((result) => result !== 'valid') ?? 'valid';
}

/** Returns the result; `valid` if it is not known and the request satisfied equal rules. */
function isSame(
  rules: RouteRules,
  satisfied: RouteRules | undefined,
  kind: 'params' | 'query' | 'headers',
  result: CheckResult,
): CheckResult {
  if (result === 'valid' || result === 'invalid') return result;
  return satisfied !== undefined && satisfied[kind].text === rules[kind].text ? 'valid' : result;
}

function checkPath({ entry, route }: RouteRules, path: string | undefined): CheckResult {
  if (entry.params === undefined) return 'valid';
  if (path === undefined) return 'path';
  const violations = route.parameters?.validate(path, '', []) ?? [];
  return violations.some(({ pointer }) => pointer.startsWith('/params')) ? 'invalid' : 'valid';
}

/** A name that the log does not show. */
const HIDDEN = '*';

function checkQuery(
  { entry, query }: RouteRules,
  queryNames: readonly string[] | undefined,
  satisfied: RouteRules | undefined,
): CheckResult {
  const rule = entry.query;
  if (rule === undefined) return 'valid';
  if (queryNames === undefined) return 'not-logged';
  const names = queryNames.filter((name) => name !== HIDDEN);
  const isComplete = names.length === queryNames.length;
  const mayRepeat = (name: string) =>
    rule.repeated === 'allow' || (rule.repeated !== 'refuse' && rule.repeated.includes(name));
  const isRepeated = names.some((name, index) => names.indexOf(name) !== index && !mayRepeat(name));
  const isUnlisted = rule.unknown === 'refuse' && names.some((name) => !query.schemas.has(name));
  const isMissing = isComplete && rule.required.some((name) => !names.includes(name));
  if (isRepeated || isUnlisted || isMissing) return 'invalid';
  // A value may have a semicolon, which such a route refuses.
  const mayHaveSemicolon =
    rule.unknown === 'refuse' && queryNames.length > 0 && satisfied?.entry.query?.unknown !== 'refuse';
  const isKnown = names.every((name) => !query.schemas.has(name) || isSatisfied(name, query, satisfied?.query));
  return isComplete && isKnown && !mayHaveSemicolon ? 'valid' : 'query';
}

function checkHeaders({ entry, headers }: RouteRules, satisfied: RouteRules | undefined): CheckResult {
  if (entry.headers === undefined) return 'valid';
  const before = satisfied?.headers;
  const required = (satisfied?.entry.headers?.required ?? []).map(foldHeaderName);
  const isKnown =
    [...headers.schemas.keys()].every((name) => isSatisfied(name, headers, before)) &&
    entry.headers.required.every((name) => required.includes(foldHeaderName(name)));
  return isKnown ? 'valid' : 'headers';
}

/** True if the request satisfied an equal schema for a parameter. */
function isSatisfied(name: string, { schemas }: ParameterRuleTexts, before: ParameterRuleTexts | undefined): boolean {
  return before?.schemas.get(name) === schemas.get(name);
}

/** How the body was validated when the request was served. */
interface AppliedBody {
  /** The rules that were applied; `undefined` if the request was refused before. */
  readonly applied: RouteRules | undefined;
  readonly violations: readonly RefusalCode[];
}

/**
 * Applies the body rule of a route to the body of a logged request, which the log does not have. `found` are its violations, the deciding
 * one first; `undefined` if it was refused before. Returns the refusal, if any, or throws an `UnknownFact`.
 */
export function checkBody(rules: RouteRules, facts: LoggedFacts, found: readonly RefusalCode[] | undefined) {
  if (isWithoutBody(facts)) return undefined;
  const before: AppliedBody = { applied: found && facts.logged, violations: found ?? [] };
  const { validation } = rules.route;
  const type = checkType(rules, facts, before);
  if (validation === 'enforce' && type === 'invalid') return 'media_type_unsupported';
  const size = checkSize(rules, facts, before);
  if (validation === 'report') {
    if (isUnknown(size)) throw new UnknownFact(size);
    return size === 'invalid' ? 'body_too_large' : undefined;
  }
  if (isUnknown(type)) throw new UnknownFact(type);
  const content = checkContent(rules, facts, before);
  // A body that is validated while it is streamed may be refused before it is too large.
  const isStreamed = rules.route.body?.streamValidatorFor !== undefined;
  if (size === 'invalid' && (!isStreamed || content === 'valid')) return 'body_too_large';
  if (isUnknown(content) || size === 'invalid') throw new UnknownFact(isUnknown(content) ? content : 'body');
  if (isUnknown(size)) throw new UnknownFact(size);
  return content === 'invalid' ? 'body_invalid' : undefined;
}

function isUnknown(result: CheckResult): result is UnknownReason {
  return result !== 'valid' && result !== 'invalid';
}

/** True for a GET or HEAD without a body, to which no rule applies. */
function isWithoutBody({ request, isBodyComplete }: LoggedFacts): boolean {
  return BODYLESS_METHODS.has(request.method ?? '') && request.receivedBytes === 0 && isBodyComplete;
}

function checkType(
  rules: RouteRules,
  { request, hasReplayFacts, isBodyComplete, isNamedType }: LoggedFacts,
  { applied, violations }: AppliedBody,
): CheckResult {
  const { body } = rules.route;
  if (body?.types === undefined) return 'valid';
  const before =
    applied?.types === rules.types ? (violations.includes('media_type_unsupported') ? 'invalid' : 'valid') : undefined;
  if (!hasReplayFacts) return before ?? 'not-logged';
  const { mediaType, receivedBytes } = request;
  if (mediaType === undefined) {
    if (body.validate !== undefined || body.streamValidatorFor !== undefined || receivedBytes > 0)
      return !BODYLESS_METHODS.has(request.method ?? '') || receivedBytes > 0 ? 'invalid' : (before ?? 'body-size');
    return before ?? (isBodyComplete ? 'valid' : 'body-size');
  }
  const listed = rules.entry.body?.types ?? defaultTypes(rules);
  // The log writes a kind such as `image/*` for the types of that kind that it does not name.
  const mayStandFor = (type: string) => (mediaType === 'other' || isOfKind(type, mediaType)) && !isNamedType(type);
  if (!acceptsName(rules)(mediaType)) return listed.some(mayStandFor) ? (before ?? 'media-type') : 'invalid';
  if (before !== undefined) return before;
  // The type was accepted, so the body has no content encoding, and its parameters satisfied the same format.
  const isAccepted = applied?.route.body?.types !== undefined && !violations.includes('media_type_unsupported');
  return isAccepted && formatOf(applied, mediaType) === formatOf(rules, mediaType) ? 'valid' : 'media-type';
}

/** @param kind such as `image/*`, or a media type */
function isOfKind(type: string, kind: string): boolean {
  return kind.endsWith('/*') && type.toLowerCase().startsWith(kind.slice(0, -1));
}

function acceptsName(rules: RouteRules): (name: string) => boolean {
  const { types, schema } = rules.entry.body ?? {};
  if (types === undefined && schema !== undefined) return isJsonType;
  return mediaTypeMatcher(types ?? defaultTypes(rules));
}

function defaultTypes({ entry: { body } }: RouteRules): readonly string[] {
  if (body?.schema !== undefined) return ['application/json', '*/*+json'];
  return [
    ...(body?.multipart === undefined ? [] : ['multipart/form-data']),
    ...(body?.csv === undefined ? [] : ['text/csv']),
  ];
}

/** Returns the format whose rules the parameters of a Content-Type must satisfy. */
function formatOf({ entry: { body } }: RouteRules, mediaType: string): string {
  if (body?.schema !== undefined) return 'json';
  if (body?.multipart !== undefined && mediaType === 'multipart/form-data') return 'multipart';
  return body?.csv !== undefined && mediaType === 'text/csv' ? 'csv' : '';
}

function checkSize(rules: RouteRules, { request, isBodyComplete }: LoggedFacts, { applied, violations }: AppliedBody) {
  const limitBytes = rules.route.body?.limitBytes ?? Number.POSITIVE_INFINITY;
  if (request.receivedBytes > limitBytes) return 'invalid';
  const limitBefore = applied?.route.body?.limitBytes;
  if (violations.includes('body_too_large'))
    return limitBefore !== undefined && limitBytes <= limitBefore ? 'invalid' : 'body-size';
  if (isBodyComplete) return 'valid';
  // A body that was refused for its type or content may be larger.
  const isWithinLimit = limitBefore !== undefined && limitBefore <= limitBytes && violations.length === 0;
  return isWithinLimit ? 'valid' : 'body-size';
}

function checkContent(rules: RouteRules, { request }: LoggedFacts, { applied, violations }: AppliedBody): CheckResult {
  const { validate, streamValidatorFor } = rules.route.body ?? {};
  if (validate === undefined && streamValidatorFor === undefined) return 'valid';
  const { mediaType } = request;
  if (validate === undefined && mediaType !== undefined && mediaType !== 'other' && formatOf(rules, mediaType) === '')
    return 'valid';
  if (applied?.content !== rules.content || violations.includes('media_type_unsupported')) return 'body';
  if (violations.includes('body_invalid')) return 'invalid';
  return violations.includes('body_too_large') ? 'body' : 'valid';
}

import { foldHeaderName } from '../../engine/header-names.ts';
import type { UnknownReason } from '../outcome.ts';
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

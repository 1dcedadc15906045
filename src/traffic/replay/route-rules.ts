import { getOrCreate } from '../../engine/get-or-create.ts';
import { valueAt } from '../../engine/json-pointer.ts';
import type { PlannedManifest } from '../../engine/load.ts';
import { isShortWord, looksLikeIdentifier } from '../../engine/log/plain-names.ts';
import type { RouteEntry } from '../../engine/manifest/manifest.generated.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import { type Pattern, patternKey } from '../../engine/routing/pattern.ts';
import { routingKey } from '../../engine/routing/router.ts';
import { referencePath } from '../../engine/schema/schema-walk.ts';
import { callerRulesKey } from '../outcome.ts';

/** One of the two manifests of a replay. */
export type ReplaySide = Pick<PlannedManifest, 'plan' | 'manifest' | 'secrets'>;

/** The rules of a route as texts that are equal for rules that accept the same requests. */
export type RouteRules = ReturnType<typeof rulesOf>;
export type ParameterRuleTexts = RouteRules['query'];

/** Returns the rules of the routes of a plan, each of which is computed once. */
export function createRulesOf(side: ReplaySide): (route: Route) => RouteRules {
  const { plan, manifest } = side;
  const indexes = new Map(plan.routes.map((route, index) => [route, index]));
  const known = new Map<Route, RouteRules>();
  const compute = (route: Route) => {
    const index = indexes.get(route) ?? -1;
    return rulesOf(route, manifest.routes[index] as RouteEntry, index, side);
  };
  return (route) => getOrCreate(known, route, compute);
}

function rulesOf(route: Route, entry: RouteEntry, index: number, { plan, manifest }: ReplaySide) {
  const root = plan.schemas;
  // References to files lead into the root only here.
  const resolved = (valueAt(root, ['routes', index]) ?? entry) as RouteEntry;
  const textOf = (value: unknown, redacted: unknown) =>
    `${JSON.stringify(value)}${referencedText(redacted, root, index)}`;
  const { body } = entry;
  // The parameters of one kind that a route validates, by their names, each with a text that is equal for equal schemas.
  const section = (key: 'params' | 'query' | 'headers') => {
    const properties: Readonly<Record<string, unknown>> = entry[key]?.properties ?? {};
    const redacted: Readonly<Record<string, unknown>> = resolved[key]?.properties ?? {};
    const schemas = new Map(Object.entries(properties).map(([name, schema]) => [name, textOf(schema, redacted[name])]));
    return { schemas, text: textOf(entry[key], resolved[key]) };
  };
  return {
    route,
    entry,
    // The names in the path locate the values.
    params: { ...section('params'), text: section('params').text + (entry.params === undefined ? '' : entry.path) },
    query: section('query'),
    headers: section('headers'),
    /** Of the media types of the body. */
    types: JSON.stringify([
      body?.types,
      body?.schema !== undefined,
      body?.multipart !== undefined,
      body?.csv !== undefined,
    ]),
    /** Of the content of the body, without its length. */
    content: textOf([body?.schema, body?.multipart, body?.csv], resolved.body?.schema),
    login: JSON.stringify(entry.login),
    /** Of the origins that may open a WebSocket. */
    origins: JSON.stringify([entry.websocket, entry.websocket === true ? manifest.cors?.origins : undefined]),
  };
}

/** Returns the text of all schemas that references in a value lead to. */
function referencedText(value: unknown, root: unknown, index: number): string {
  const seen = new Set<string>();
  const texts: string[] = [];
  const visit = (text: string) => {
    for (const [, quoted = ''] of text.matchAll(REFERENCE)) {
      if (seen.has(quoted)) continue;
      seen.add(quoted);
      const path = referencePath(JSON.parse(quoted));
      const target = JSON.stringify(path && valueAt(root, path)) ?? '';
      texts.push(quoted, target);
      visit(target);
    }
  };
  visit(JSON.stringify(value) ?? '');
  // The position of a route in the manifest changes none of its rules.
  return texts.join('\n').replaceAll(`"#/routes/${index}/`, '"#/routes/-/');
}

const REFERENCE = /"\$ref":("(?:[^"\\]|\\.)*")/g;

/** True if two routes refuse the same requests that match them. */
export function isEqualUntilForwarded(rules: RouteRules, other: RouteRules): boolean {
  const textOf = ({ route, origins }: RouteRules) =>
    JSON.stringify([origins, route.access, callerRulesKey(route), route.validation]);
  return textOf(rules) === textOf(other) && hasEqualParameters(rules, other) && hasEqualBody(rules, other);
}

/** True if two routes validate parameters alike. */
export function hasEqualParameters(rules: RouteRules, other: RouteRules | undefined): boolean {
  return (['params', 'query', 'headers'] as const).every((kind) => rules[kind].text === other?.[kind].text);
}

/** True if two routes accept the same bodies. */
export function hasEqualBody(rules: RouteRules, other: RouteRules | undefined): boolean {
  return (
    rules.types === other?.types &&
    rules.content === other.content &&
    rules.route.body?.limitBytes === other.route.body?.limitBytes &&
    rules.route.validation === other.route.validation
  );
}

/** True if two plans accept WebSocket handshakes for the same requests. */
export function haveEqualHandshakes(plan: Plan, other: Plan): boolean {
  const textOf = ({ routes }: Plan) =>
    JSON.stringify(routes.map((route) => [routingKey(route), route.websocket]).sort());
  return plan === other || textOf(plan) === textOf(other);
}

/** The paths of a log that have surrogates in place of identifiers. */
export type KeyedPaths = ReturnType<typeof createKeyedPaths>;

/** @param logged the manifest that wrote the log */
export function createKeyedPaths({ plan, manifest }: ReplaySide, next: Plan) {
  const { paths } = manifest.log;
  const newPatterns = patternsOf(next, plan);
  const isSurrogateIn = (path: string, route: Route | undefined) => {
    if (route !== undefined) {
      const { pattern } = route;
      const firstValue = pattern.findIndex(({ kind }) => kind !== 'literal');
      return (segment: string, index: number) =>
        index >= firstValue && pattern[index]?.kind !== 'literal' && !isShortWord(segment);
    }
    const isMatched = plan.router.allowedMethods(path).length > 0;
    return (segment: string) =>
      segment === HIDDEN || looksLikeIdentifier(segment) || (isMatched && !isShortWord(segment));
  };
  return {
    /** True if the path of a logged request may have surrogates. @param route `undefined` if it has none */
    isKeyed: (route: Route | undefined): boolean => {
      if (route === undefined) return plan.log.keyedPaths !== undefined;
      const isKeyedRoute = paths === 'keyed' || (paths === undefined && route.access === 'public');
      return isKeyedRoute && route.pattern.some(({ kind }) => kind !== 'literal');
    },
    /** True if a path with surrogates may stand for one that matches another route of the new plan. */
    mayMatchOther: (path: string, route: Route | undefined): boolean => {
      if (newPatterns.length === 0) return false;
      const segments = path.replace(/\/$/, '').split('/').slice(1);
      const isSurrogate = isSurrogateIn(path, route);
      return newPatterns.some((pattern) => mayMatch(pattern, segments, isSurrogate));
    },
  };
}

/** Stands in the log for a value without a surrogate. */
const HIDDEN = '*';

/** Returns the patterns that only the new plan has. */
function patternsOf({ routes }: Plan, old: Plan): Pattern[] {
  const keys = new Set(old.routes.map(({ pattern }) => patternKey(pattern)));
  return routes.map(({ pattern }) => pattern).filter((pattern) => !keys.has(patternKey(pattern)));
}

/** True if a path may match a pattern with the original values of its surrogates. */
function mayMatch(
  pattern: Pattern,
  segments: readonly string[],
  isSurrogate: (segment: string, index: number) => boolean,
): boolean {
  const hasRest = pattern.at(-1)?.kind === 'rest';
  if (hasRest ? segments.length < pattern.length - 1 : segments.length !== pattern.length) return false;
  return pattern.every((part, index) => {
    const segment = segments[index] ?? '';
    return part.kind !== 'literal' || part.text === segment || isSurrogate(segment, index);
  });
}

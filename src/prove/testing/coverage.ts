import type { RefusalCode } from '../../engine/gateway/response/refusal.ts';
import { pointerStep, valueAt } from '../../engine/json-pointer.ts';
import type { PlannedManifest } from '../../engine/load.ts';
import type { Manifest, RouteEntry } from '../../engine/manifest/manifest.generated.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import type { RouteRateLimits } from '../../engine/rate-limits/rate-limit.ts';
import { keywordsWith } from '../../engine/schema/keywords.ts';
import { isMap, referencePath } from '../../engine/schema/schema-walk.ts';
import { ANY_ROLE, type TokenEntry, tokenEntries } from '../../engine/tokens/token-entries.ts';
import { rolesOf } from '../offline/role-claims.ts';
import { routingRefusals, ruleRefusals } from './route-refusals.ts';
import type { TestResult } from './run-test-file.ts';

/** A route, an allowed role of a route, a possible refusal, or a validated value: something that a test case can cover. */
interface CoverageUnit {
  readonly kind: 'route' | 'role' | 'refusal' | 'value';
  /** `undefined` for a refusal that belongs to no route. */
  readonly route: string | undefined;
  /** The id of the route, the redacted role, the refusal code, or the JSON Pointer of the value. */
  readonly name: string;
  readonly isCovered: boolean;
}

/** Returns the coverage units: a matched route, a role that it accepted, a refusal that was given, and a value that was a violation. */
export function coverageOf({ plan, manifest }: PlannedManifest, results: readonly TestResult[]): CoverageUnit[] {
  const covered = new Set(results.flatMap((result) => coveredBy(result, tokenEntries(manifest.auth))));
  const unit = (kind: CoverageUnit['kind'], route: string | undefined, name: string, redacted = name): CoverageUnit => {
    return { kind, route, name: redacted, isCovered: covered.has(keyOf(kind, route, name)) };
  };
  return [
    ...plan.routes.flatMap((route, index) => [
      unit('route', route.id, route.id),
      ...(route.auth?.role.required ?? []).map((role, at) =>
        unit('role', route.id, role, route.auth?.role.redactedRoles[at]),
      ),
      ...testableRefusals(route, manifest.routes[index]).map((code) => unit('refusal', route.id, code)),
      ...publicValues(manifest, plan, index).map((pointer) => unit('value', route.id, pointer)),
    ]),
    ...routingRefusals(plan.routes).map((code) => unit('refusal', undefined, code)),
  ];
}

/** Returns the validated values of a route without those whose names came from the environment. */
function publicValues(manifest: Manifest, { schemas }: Plan, index: number): string[] {
  const redacted = new Set(schemas === undefined ? [] : validatedValues(schemas as ValidatedManifest, index));
  return validatedValues(manifest, index).filter((pointer) => redacted.has(pointer));
}

/** Returns the keys of the units that a test case covers. A failed case covers them too. */
function coveredBy({ outcome: { record, principals } }: TestResult, methods: readonly TokenEntry[]): string[] {
  const { refusal, reported = [] } = record;
  const route = record.route?.id;
  const violations = [...reported, ...(refusal === undefined ? [] : [refusal])].flatMap(({ pointers }) => pointers);
  const keys = [
    keyOf('route', route, route ?? ''),
    ...reported.map(({ code }) => keyOf('refusal', route, code)),
    ...violations.map((pointer) => keyOf('value', route, pointer)),
  ];
  if (refusal !== undefined) return [...keys, keyOf('refusal', route, refusal.code)];
  const roles = principals.flatMap(({ claims, issuer }) =>
    methods.filter((method) => method.issuer === issuer).flatMap(({ role }) => [ANY_ROLE, ...rolesOf(role, claims)]),
  );
  return [...keys, ...roles.map((name) => keyOf('role', route, name))];
}

/**
 * Returns the refusals that the cases should cause. Without its own list of origins a route has no origin rule to test, and
 * the schema of a body usually requires the member that a rate limit counts by.
 */
function testableRefusals(route: Route, entry: RouteEntry | undefined): RefusalCode[] {
  const hasOriginList = typeof entry?.websocket === 'object';
  const { match = [], authorize = [] }: Partial<RouteRateLimits> = route.rateLimits ?? {};
  const canLackKey = [...match, ...authorize].some(({ missing, mode }) => missing === 'refuse' && mode === 'enforce');
  const isTestable = (code: RefusalCode) =>
    (code !== 'origin_not_allowed' || hasOriginList) && (code !== 'rate_limit_key_missing' || canLackKey);
  return ruleRefusals(route).filter(isTestable);
}

function keyOf(kind: CoverageUnit['kind'], route: string | undefined, name: string): string {
  return JSON.stringify([kind, route, name]);
}

/** The coverage of a manifest, as reports print it. */
export type CoverageSummary = ReturnType<typeof summarizeCoverage>;

export function summarizeCoverage(units: readonly CoverageUnit[]) {
  const countUnits = (selected: readonly CoverageUnit[]) => ({
    covered: selected.filter(({ isCovered }) => isCovered).length,
    total: selected.length,
  });
  const countKind = (kind: CoverageUnit['kind']) => countUnits(units.filter((unit) => unit.kind === kind));
  const { covered, total } = countUnits(units);
  const uncovered = Map.groupBy(
    units.filter(({ isCovered }) => !isCovered),
    ({ route }) => route,
  );
  return {
    // Rounded down to a tenth, so that 100 means every unit.
    percent: Math.floor((1000 * covered) / total) / 10,
    routes: countKind('route'),
    roles: countKind('role'),
    refusals: countKind('refusal'),
    values: countKind('value'),
    // The units that no test case covers, by route.
    uncovered: [...uncovered].map(([route, routeUnits]) => ({
      route,
      items: routeUnits.map(({ kind, name }) => (kind === 'route' ? 'is never reached' : `${kind} ${name}`)),
    })),
  };
}

/** The parts of a manifest that have schemas. */
type ValidatedManifest = Pick<Manifest, 'routes' | 'schemas'>;

/** Returns the JSON Pointers that violations of a route can name: parameters, and members of the outermost object of a body. */
function validatedValues(manifest: ValidatedManifest, index: number): string[] {
  const entry = manifest.routes[index];
  const parameters = (['params', 'query', 'headers'] as const).flatMap((kind) =>
    restrictedNames(manifest, entry?.[kind]).map((name) => `/${kind}${pointerStep(name)}`),
  );
  const members = restrictedNames(manifest, resolve(manifest, entry?.body?.schema)).map(pointerStep);
  return [...parameters, ...members];
}

/** Returns the names in `properties` whose schemas refuse some value, and those in `required`. */
function restrictedNames(manifest: ValidatedManifest, schema: unknown): string[] {
  if (!isMap(schema)) return [];
  const { properties, required } = schema;
  const restricted = Object.entries(isMap(properties) ? properties : {}).flatMap(([name, member]) =>
    isRestricting(resolve(manifest, member)) ? [name] : [],
  );
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  return [...new Set([...restricted, ...names])];
}

const ANNOTATIONS = new Set(keywordsWith({ isAnnotation: true }));

function isRestricting(schema: unknown): boolean {
  return schema === false || (isMap(schema) && Object.keys(schema).some((keyword) => !ANNOTATIONS.has(keyword)));
}

/** Follows a reference to `schemas`. A schema in another file stays a reference, which restricts the value. */
function resolve(manifest: ValidatedManifest, schema: unknown, depth = 0): unknown {
  const reference = isMap(schema) ? schema['$ref'] : undefined;
  const path = typeof reference === 'string' ? referencePath(reference) : undefined;
  if (path === undefined || depth > MAX_REFERENCES) return schema;
  return resolve(manifest, valueAt(manifest, path), depth + 1);
}

/** A longer chain of references is a circle. */
const MAX_REFERENCES = 20;

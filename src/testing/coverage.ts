import type { RefusalCode } from '../gateway/response/refusal.ts';
import { routingRefusals, ruleRefusals } from '../gateway/response/route-refusals.ts';
import type { PlannedManifest } from '../load.ts';
import type { RouteEntry } from '../manifest/manifest.generated.ts';
import { rolesOf } from '../offline/claims.ts';
import type { Route } from '../plan/route-definition.ts';
import type { TestResult } from './run-test-file.ts';

/** Something that a manifest says, and that a suite can show. */
export interface CoverageUnit {
  readonly kind: 'route' | 'role' | 'refusal';
  /** The route; `undefined`: no route in particular. */
  readonly route: string | undefined;
  /** The role as it may be printed, or the code of the refusal; of a route its id. */
  readonly name: string;
  readonly isCovered: boolean;
}

/**
 * What a manifest says and which of it the cases have shown: each route was reached, each role passed where it is
 * allowed, and each rule of a route, and the routes as a whole, have refused something.
 */
export function coverageOf({ plan, manifest }: PlannedManifest, results: readonly TestResult[]): CoverageUnit[] {
  const seen = new Set(results.flatMap((result) => coveredBy(result, manifest.auth?.role)));
  const unit = (kind: CoverageUnit['kind'], route: string | undefined, name: string, shown = name): CoverageUnit => ({
    kind,
    route,
    name: shown,
    isCovered: seen.has(keyOf(kind, route, name)),
  });
  return [
    ...plan.routes.flatMap((route, index) => [
      unit('route', route.id, route.id),
      ...(route.auth?.role.required ?? []).map((role, at) =>
        unit('role', route.id, role, route.auth?.role.redactedRoles[at]),
      ),
      ...testableRefusals(route, manifest.routes[index]).map((code) => unit('refusal', route.id, code)),
    ]),
    ...routingRefusals(plan.routes).map((code) => unit('refusal', undefined, code)),
  ];
}

/** What a case has shown, whether or not it was expected. */
function coveredBy(
  { outcome: { logEntry, principals } }: TestResult,
  role: Parameters<typeof rolesOf>[0] | undefined,
): string[] {
  const { route, refusal, reported = [] } = logEntry;
  const shown = [keyOf('route', route, route ?? ''), ...reported.map(({ code }) => keyOf('refusal', route, code))];
  if (refusal !== undefined) return [...shown, keyOf('refusal', route, refusal)];
  const passed = role === undefined ? [] : principals.flatMap(({ claims }) => rolesOf(role, claims));
  return [...shown, ...passed.map((name) => keyOf('role', route, name))];
}

/** Returns the refusals that the cases should cause. Without its own list of origins a route has no origin rule to test. */
function testableRefusals(route: Route, entry: RouteEntry | undefined): RefusalCode[] {
  const hasOriginList = typeof entry?.websocket === 'object';
  return ruleRefusals(route).filter((code) => code !== 'origin_not_allowed' || hasOriginList);
}

function keyOf(kind: CoverageUnit['kind'], route: string | undefined, name: string): string {
  return JSON.stringify([kind, route, name]);
}

export interface CoverageCount {
  readonly covered: number;
  readonly total: number;
}

/** Coverage as it is reported. */
export interface CoverageSummary {
  /** Rounded down to a tenth: 100 is all. */
  readonly percent: number;
  readonly routes: CoverageCount;
  readonly roles: CoverageCount;
  readonly refusals: CoverageCount;
  /** What no case has shown, by route. */
  readonly uncovered: readonly { readonly route: string | undefined; readonly what: readonly string[] }[];
}

export function summarizeCoverage(units: readonly CoverageUnit[]): CoverageSummary {
  const counted = (of: readonly CoverageUnit[]): CoverageCount => ({
    covered: of.filter(({ isCovered }) => isCovered).length,
    total: of.length,
  });
  const ofKind = (kind: CoverageUnit['kind']) => counted(units.filter((unit) => unit.kind === kind));
  const { covered, total } = counted(units);
  const missed = Map.groupBy(
    units.filter(({ isCovered }) => !isCovered),
    ({ route }) => route,
  );
  return {
    percent: Math.floor((1000 * covered) / total) / 10,
    routes: ofKind('route'),
    roles: ofKind('role'),
    refusals: ofKind('refusal'),
    uncovered: [...missed].map(([route, of]) => ({
      route,
      what: of.map(({ kind, name }) => (kind === 'route' ? 'is never reached' : `${kind} ${name}`)),
    })),
  };
}

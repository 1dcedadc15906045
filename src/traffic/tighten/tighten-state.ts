import { load, type PlannedManifest } from '../../engine/load.ts';
import type { RouteEntry } from '../../engine/manifest/manifest.generated.ts';
import type { Environment, Source } from '../../engine/manifest/source.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import { displayPathBeside } from '../../engine/problem/display-path.ts';
import type { RequestGroup, Usage } from './usage.ts';

export const ENCODED_SLASH = /%2f/i;

/** A route and the allowed requests that match it. */
export interface RouteUse {
  readonly route: Route;
  readonly entry: RouteEntry;
  /** For example `['routes', 3]`. */
  readonly index: number;
  /** The route of the first manifest that it comes from. */
  readonly origin: string;
  readonly groups: readonly RequestGroup[];
}

/** A version of the manifest: the first one, or one after some proposals. */
export interface TightenState {
  readonly loaded: PlannedManifest;
  /** In the order of the manifest. */
  readonly uses: readonly RouteUse[];
  /** The routes that replace a wildcard, with the id of that route in the first manifest. */
  readonly origins: ReadonlyMap<string, string>;
  /** The allowed requests that this version refuses, or routes to a route of another origin. */
  readonly lost: readonly RequestGroup[];
}

/** Creates a version of the manifest with the requests of each route. */
export function createState(
  loaded: PlannedManifest,
  allowed: readonly RequestGroup[],
  origins: ReadonlyMap<string, string>,
): TightenState {
  const { plan, manifest } = loaded;
  const groups = new Map<Route, RequestGroup[]>(plan.routes.map((route) => [route, []]));
  const lost: RequestGroup[] = [];
  for (const group of allowed) {
    const route = matchRoute(plan, group.method, group.path);
    const isSame = route !== undefined && (origins.get(route.id) ?? route.id) === group.route;
    if (isSame && allows(route, group)) groups.get(route)?.push(group);
    else lost.push(group);
  }
  const uses = plan.routes.map((route, index) => ({
    route,
    entry: manifest.routes[index] as RouteEntry,
    index,
    origin: origins.get(route.id) ?? route.id,
    groups: groups.get(route) ?? [],
  }));
  return { loaded, uses, origins, lost };
}

/** Returns the route of a request; `undefined` if it is refused. A plan whose routes keep no encoded slash refuses them all. */
export function matchRoute({ router }: Pick<Plan, 'router'>, method: string, path: string): Route | undefined {
  return !router.keepsEncodedSlash && ENCODED_SLASH.test(path) ? undefined : router.match(method, path);
}

/** True if a route allows a request that was allowed when it was logged, by its roles and its kind. */
function allows({ auth, websocket }: Route, { roles, isUpgrade }: RequestGroup): boolean {
  if (isUpgrade && !websocket) return false;
  return auth === undefined || roles === undefined || auth.role.redactedRoles.some((role) => roles.includes(role));
}

/**
 * Loads changed texts; `undefined` if they have errors.
 *
 * @param previous a plan of which most parts are the same
 */
export function loadTexts(
  sources: readonly Source[],
  environment: Environment,
  previous: Plan,
): PlannedManifest | undefined {
  const [main, ...included] = sources;
  if (main === undefined) return undefined;
  const texts = new Map(included.map(({ path, text }) => [path, text]));
  const readFile = (name: string) => texts.get(displayPathBeside(main.path, name)) ?? environment.readFile(name);
  const loaded = load(main, { ...environment, readFile }, previous);
  return loaded.plan === undefined ? undefined : loaded;
}

/** Returns the groups of requests that the manifest still allows: the log may be older than it. */
export function allowedToday(loaded: PlannedManifest, { allowed }: Usage): RequestGroup[] {
  const { lost } = createState(loaded, allowed, new Map());
  const refused = new Set(lost);
  return allowed.filter((group) => !refused.has(group));
}

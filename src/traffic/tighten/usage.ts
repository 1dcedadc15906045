import type { PlannedManifest } from '../../engine/load.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import type { CredentialKind, LoggedRequest } from '../access-log/logged-request.ts';
import { type Evidence, EvidenceCounter } from './evidence.ts';
import { hasKeyedPaths, PathShapes } from './path-shape.ts';
import { matchRoute } from './tighten-state.ts';

/** Allowed requests that no plan treats differently. */
export interface RequestGroup {
  readonly method: string;
  /** The path of one of them, with placeholders for identifiers. */
  readonly path: string;
  /** The route of the manifest that the log is compared with. */
  readonly route: string;
  readonly roles: readonly string[] | undefined;
  /** True if the log has roles, credentials and media types: `log.replay`. */
  readonly hasReplay: boolean;
  readonly credential: CredentialKind | undefined;
  readonly mediaType: string | undefined;
  readonly isUpgrade: boolean;
  readonly counter: EvidenceCounter;
}

/** The requests of the logs, as far as they show the use of the manifest. */
export interface Usage {
  readonly allowed: readonly RequestGroup[];
  readonly refused: ReadonlyMap<string, EvidenceCounter>;
  /** The routes with a request that a rate limit with `mode: report` would have refused. */
  readonly overLimit: ReadonlySet<string>;
  readonly all: Evidence;
  readonly allowedEvidence: Evidence;
  /** True if some requests have no line. */
  readonly isSampled: boolean;
  readonly hasReplay: boolean;
  /** The lines that were logged under another manifest, if the log has its hash. */
  readonly otherManifestLines: number;
  /** The lines of allowed requests that the manifest does not route, or to a route with another id. */
  readonly otherRouteLines: number;
  /** True if the paths have too many forms to propose names for wildcards. */
  readonly isCoarse: boolean;
}

/** The codes of failures after all checks: the gateway allowed these requests. */
const UPSTREAM_FAILURE = /^upstream_/;
/** The codes that a rate limit reports. */
const RATE_LIMIT_CODE = /^rate_limit_/;
const MAX_GROUPS = 200_000;
const MAX_CACHED_PATHS = 50_000;

/** The route of a path, and the path with placeholders. */
interface ShapedPath {
  readonly route: Route | undefined;
  readonly shape: string;
}

/** Collects logged requests in groups. */
export class UsageCounter {
  readonly #loaded: PlannedManifest;
  readonly #shapes: PathShapes;
  readonly #groups = new Map<string, RequestGroup>();
  readonly #refused = new Map<string, EvidenceCounter>();
  readonly #overLimit = new Set<string>();
  readonly #all = new EvidenceCounter();
  readonly #allowed = new EvidenceCounter();
  #cache = new Map<string, ShapedPath>();
  #isSampled: boolean;
  #hasReplay = false;
  #isCoarse = false;
  #otherManifestLines = 0;
  #otherRouteLines = 0;

  constructor(loaded: PlannedManifest) {
    this.#loaded = loaded;
    this.#shapes = new PathShapes(loaded.plan);
    this.#isSampled = loaded.plan.log.sample2xx < 1;
  }

  add(request: LoggedRequest): void {
    const { method, path, manifest, weight } = request;
    this.#all.add(request);
    if (weight > 1) this.#isSampled = true;
    if (manifest !== undefined) {
      this.#hasReplay = true;
      if (!this.#loaded.plan.hash.startsWith(manifest)) this.#otherManifestLines += 1;
    }
    if (method === undefined || path === undefined) return;
    const { route, shape } = this.#shapedPath(method, path);
    if (route !== undefined && request.reported.some((code) => RATE_LIMIT_CODE.test(code)))
      this.#overLimit.add(route.id);
    if (!isAllowed(request)) {
      if (route !== undefined) counterAt(this.#refused, route.id).add(request);
      return;
    }
    // Preflights and requests to the server have no route.
    if (request.route === undefined) return;
    if (route?.id !== request.route) this.#otherRouteLines += 1;
    if (route === undefined) return;
    this.#allowed.add(request);
    this.#addGroup(request, { method, shape, route });
  }

  get usage(): Usage {
    return {
      allowed: [...this.#groups.values()],
      refused: this.#refused,
      overLimit: this.#overLimit,
      all: this.#all.evidence,
      allowedEvidence: this.#allowed.evidence,
      isSampled: this.#isSampled,
      hasReplay: this.#hasReplay,
      otherManifestLines: this.#otherManifestLines,
      otherRouteLines: this.#otherRouteLines,
      isCoarse: this.#isCoarse,
    };
  }

  #addGroup(request: LoggedRequest, { method, shape, route }: { method: string; shape: string; route: Route }): void {
    const { roles, credential, mediaType, status, manifest } = request;
    const isUpgrade = status === 101;
    const hasReplay = manifest !== undefined;
    const key = JSON.stringify([method, shape, route.id, roles, hasReplay, credential, mediaType, isUpgrade]);
    let group = this.#groups.get(key);
    if (group === undefined) {
      const counter = new EvidenceCounter();
      group = { method, path: shape, route: route.id, roles, hasReplay, credential, mediaType, isUpgrade, counter };
      this.#groups.set(key, group);
    }
    group.counter.add(request);
  }

  #shapedPath(method: string, path: string): ShapedPath {
    const key = `${method} ${path}`;
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    const { plan, manifest } = this.#loaded;
    const route = matchRoute(plan, method, path);
    this.#isCoarse ||= this.#groups.size >= MAX_GROUPS;
    // Without words, all paths of a route have few shapes.
    const isKeyed = this.#isCoarse || (route !== undefined && hasKeyedPaths(route, manifest.log));
    const shaped = { route, shape: this.#shapes.shapeOf(path, isKeyed) };
    if (this.#cache.size >= MAX_CACHED_PATHS) this.#cache = new Map();
    this.#cache.set(key, shaped);
    return shaped;
  }
}

/** A request that the client ended, or that failed at the upstream, shows the use of its route as one with a response does. */
function isAllowed({ refusal }: LoggedRequest): boolean {
  return refusal === undefined || UPSTREAM_FAILURE.test(refusal);
}

function counterAt(counters: Map<string, EvidenceCounter>, key: string): EvidenceCounter {
  const counter = counters.get(key) ?? new EvidenceCounter();
  counters.set(key, counter);
  return counter;
}

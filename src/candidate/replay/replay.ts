import { createMediaTypeNames } from '../../plan/log/media-type-names.ts';
import type { Route } from '../../plan/route-definition.ts';
import { type ComparisonResult, compareOutcomes } from '../compare-outcomes.ts';
import { Comparison, type ComparisonReport } from '../comparison.ts';
import type { LoggedRequest } from '../log/logged-request.ts';
import { UnknownFact } from '../outcome.ts';
import { createKeyedPaths, type KeyedPaths } from './keyed-paths.ts';
import { endOf } from './logged-end.ts';
import { LoggedFacts } from './logged-facts.ts';
import { loggedOutcome, replayedOutcome } from './replayed-outcome.ts';
import { createRulesOf, type ReplaySide, type RouteRules } from './route-rules.ts';

/** A line of a log. */
export interface LineWitness {
  readonly source: string;
  readonly line: number;
}

/** The lines of a log that another manifest wrote. */
export interface OtherManifest {
  /** The first 16 hex digits of its SHA-256. */
  readonly hash: string;
  readonly lines: number;
  readonly first: LineWitness;
}

export interface ReplayReport {
  readonly lines: number;
  /** Milliseconds since the Unix epoch; `undefined` without a request. */
  readonly firstTime: number | undefined;
  readonly lastTime: number | undefined;
  /** Lines without the facts that `log.replay` adds. */
  readonly linesWithoutFacts: number;
  readonly otherManifests: readonly OtherManifest[];
  /** Compares the log with the manifest that is said to have written it. */
  readonly calibration: ComparisonReport<LineWitness>;
  /** Compares the log with the new manifest, except lines that the calibration did not reproduce. */
  readonly comparison: ComparisonReport<LineWitness>;
}

interface ReplayedResult {
  readonly calibration: ComparisonResult;
  readonly comparison: ComparisonResult;
}

const MAX_WITNESSES = 3;
/** Most lines of a log repeat the facts of others. A path with identifiers is a fact, so there may be millions. */
const MAX_CACHED = 50_000;
const MAX_OTHER_MANIFESTS = 20;
const NOT_REPRODUCED: ComparisonResult = { result: 'unknown', reason: 'not-reproduced' };

/** Decides about the requests of a log by the manifest that wrote it and by a new one, and compares the decisions. */
export class Replay {
  readonly #old: ReplaySide;
  readonly #next: ReplaySide;
  readonly #oldRules: (route: Route) => RouteRules;
  readonly #nextRules: (route: Route) => RouteRules;
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #keyedPaths: KeyedPaths;
  readonly #isNamedType: (mediaType: string) => boolean;
  readonly #cache = new Map<string, ReplayedResult>();
  readonly #calibration = new Comparison<LineWitness>(MAX_WITNESSES);
  readonly #comparison = new Comparison<LineWitness>(MAX_WITNESSES);
  readonly #otherManifests = new Map<string, { hash: string; lines: number; first: LineWitness }>();
  #lines = 0;
  #linesWithoutFacts = 0;
  #firstTime: number | undefined;
  #lastTime: number | undefined;

  /** @param old the manifest that wrote the log */
  constructor(old: ReplaySide, next: ReplaySide) {
    this.#old = old;
    this.#next = next;
    this.#oldRules = createRulesOf(old);
    this.#nextRules = createRulesOf(next);
    this.#routes = new Map(old.plan.routes.map((route) => [route.id, route]));
    this.#keyedPaths = createKeyedPaths(old, next.plan);
    const nameOf = createMediaTypeNames(old.manifest.routes, old.secrets);
    this.#isNamedType = (mediaType) => nameOf(mediaType) === mediaType.toLowerCase();
  }

  add(request: LoggedRequest): void {
    this.#count(request);
    const key = factsKey(request);
    let result = this.#cache.get(key);
    if (result === undefined) {
      result = this.#replay(request);
      if (this.#cache.size === MAX_CACHED) this.#cache.clear();
      this.#cache.set(key, result);
    }
    const caller = () => request.subject ?? request.client;
    const witness = () => ({ source: request.source, line: request.line });
    this.#calibration.add(result.calibration, request.weight, caller, witness);
    this.#comparison.add(result.comparison, request.weight, caller, witness);
  }

  report(): ReplayReport {
    return {
      lines: this.#lines,
      firstTime: this.#firstTime,
      lastTime: this.#lastTime,
      linesWithoutFacts: this.#linesWithoutFacts,
      otherManifests: [...this.#otherManifests.values()],
      calibration: this.#calibration.report(),
      comparison: this.#comparison.report(),
    };
  }

  #count({ time, manifest, source, line }: LoggedRequest): void {
    this.#lines += 1;
    this.#firstTime = Math.min(this.#firstTime ?? time, time);
    this.#lastTime = Math.max(this.#lastTime ?? time, time);
    if (manifest === undefined) {
      this.#linesWithoutFacts += 1;
      return;
    }
    if (this.#old.plan.hash.startsWith(manifest)) return;
    const other = this.#otherManifests.get(manifest);
    if (other !== undefined) other.lines += 1;
    else if (this.#otherManifests.size < MAX_OTHER_MANIFESTS)
      this.#otherManifests.set(manifest, { hash: manifest, lines: 1, first: { source, line } });
  }

  #replay(request: LoggedRequest): ReplayedResult {
    const facts = this.#factsOf(request);
    const logged = loggedOutcome(facts);
    const calibration = compare(logged, () => replayedOutcome(facts, this.#old.plan, this.#oldRules));
    if (calibration.result === 'changed') return { calibration, comparison: NOT_REPRODUCED };
    return { calibration, comparison: compare(logged, () => replayedOutcome(facts, this.#next.plan, this.#nextRules)) };
  }

  #factsOf(request: LoggedRequest): LoggedFacts {
    const route = request.route === undefined ? undefined : this.#routes.get(request.route);
    const isPathKeyed = this.#keyedPaths.isKeyed(route);
    return new LoggedFacts({
      request,
      end: endOf(request, this.#old),
      loggedPlan: this.#old.plan,
      logged: route && this.#oldRules(route),
      isNamedType: this.#isNamedType,
      isPathKeyed,
      mayMatchOther: isPathKeyed && this.#keyedPaths.mayMatchOther(request.path ?? '', route),
    });
  }
}

type ComparedOutcome = Parameters<typeof compareOutcomes>[0];

function compare(from: ComparedOutcome, to: () => ComparedOutcome): ComparisonResult {
  try {
    return compareOutcomes(from, to());
  } catch (error) {
    // The message to the upstream is only computed if all else is equal.
    if (error instanceof UnknownFact) return { result: 'unknown', reason: error.reason };
    throw error;
  }
}

/** Returns a text that is equal for requests with the same facts. */
function factsKey(request: LoggedRequest): string {
  const { source, line, time, subject, client, weight, manifest, host, ...facts } = request;
  return JSON.stringify([manifest !== undefined, Object.values(facts)]);
}

import { hash, randomBytes } from 'node:crypto';
import type { Manifest, RouteEntry } from '../manifest/manifest.generated.ts';
import type { Route } from '../plan/route-definition.ts';
import type { SlicedWork } from '../plan/sliced-work.ts';
import type { Finding } from '../problem/finding.ts';
import type { Secrets } from '../problem/redaction.ts';
import { readSegment } from '../routing/path-folding.ts';
import { checkSecret } from '../settings/compile-context.ts';
import type { PathValueRule } from '../validation/parameters.ts';
import { decodeFormText } from '../validation/query.ts';
import { createMediaTypeNames, isShortWord, isWord, looksLikeIdentifier } from './plain-names.ts';

/** The compiled settings of the access log. */
export interface LogSettings {
  /** Equal for equal settings. */
  readonly key: string;
  /** The share of 2xx responses that get a line: from 0 to 1. */
  readonly sample2xx: number;
  /** The functions that return the facts for a replay; `undefined` if lines do not have them. */
  readonly replay: ReturnType<typeof compileReplay> | undefined;
  /** `undefined`: as sent, for every path. */
  readonly keyedPaths: KeyedPathSettings | undefined;
}

/** A shorter secret could be guessed from the surrogates of known values. */
const MIN_SECRET = 32;
const MANIFEST_DIGITS = 16;

/** The key of a process whose manifest has no `secret`. A reload keeps it. */
const PROCESS_SECRET = randomBytes(32).toString('hex');

/** Reports a secret that is short, or that did not come from the environment. */
export function checkLog({ secret }: Manifest['log'], secrets: Secrets, findings: Finding[]): void {
  if (secret === undefined) return;
  checkSecret(secret, ['log', 'secret'], { rule: 'log-secret', min: MIN_SECRET }, { secrets, findings });
}

interface LogContext {
  readonly hash: string;
  readonly entries: readonly RouteEntry[];
  readonly routes: readonly Route[];
  readonly secrets: Secrets;
}

/** Compiles `log` of a manifest without errors. */
export function* compileLog(entry: Manifest['log'], context: LogContext): SlicedWork<LogSettings> {
  const { sample2xx, replay, paths, secret } = entry;
  return Object.freeze({
    key: hash('sha256', JSON.stringify([sample2xx, replay, paths, secret])),
    sample2xx,
    replay: replay ? compileReplay(context) : undefined,
    keyedPaths: yield* compileKeyedPaths(entry, context),
  });
}

function* compileKeyedPaths(
  { paths, secret = PROCESS_SECRET }: Manifest['log'],
  { routes }: LogContext,
): SlicedWork<KeyedPathSettings | undefined> {
  if (paths === 'plain') return undefined;
  const keyedRoutes = new Map<Route, KeyedRoute>();
  const literals = new Set<string>();
  for (const route of routes) {
    for (const segment of route.pattern) if (segment.kind === 'literal') literals.add(readLiteral(segment.text));
    const keyed = paths === 'keyed' || route.access === 'public' ? keyedRouteOf(route) : undefined;
    if (keyed !== undefined) keyedRoutes.set(route, keyed);
    yield;
  }
  if (paths === undefined && keyedRoutes.size === 0) return undefined;
  return Object.freeze({ secret, routes: keyedRoutes, literals });
}

/** The settings of paths that have surrogates in place of identifiers. */
export interface KeyedPathSettings {
  readonly secret: string;
  /** The routes whose paths have segments that the log replaces. */
  readonly routes: ReadonlyMap<Route, KeyedRoute>;
  /** The literal segments of all paths, each read by `readLiteral`. */
  readonly literals: ReadonlySet<string>;
}

/** The rules for the segments of a route's path. */
export interface KeyedRoute {
  /** Returns true if the segment at an index of a matched path, from 0, is an identifier. */
  readonly isReplaced: (segment: string, index: number) => boolean;
  /** Returns true if a surrogate is as valid for the parameter as the value is. */
  readonly fits: (surrogate: string, value: string, index: number) => boolean;
}

/** Returns `undefined` for a path without parameters and without `/**`. */
function keyedRouteOf(route: Route): KeyedRoute | undefined {
  const { pattern } = route;
  const firstValue = pattern.findIndex(({ kind }) => kind !== 'literal');
  if (firstValue === -1) return undefined;
  const ruleAt = (index: number) => route.parameters?.pathValues.get(index);
  const isReplaced = (segment: string, index: number) => {
    // `/**` also matches the words of a folder of files.
    const kind = pattern[index]?.kind ?? 'rest';
    if (kind === 'parameter') return !isKept(segment, ruleAt(index));
    return kind === 'rest' && looksLikeIdentifier(segment);
  };
  return {
    isReplaced: (segment, index) => index >= firstValue && segment !== '' && isReplaced(segment, index),
    fits: (surrogate, value, index) => {
      const rule = ruleAt(index);
      if (rule === undefined) return true;
      return !rule.listed.has(surrogate) && (rule.isValid(value) !== true || rule.isValid(surrogate) !== false);
    },
  };
}

/** Returns a text as the router compares it with the literals of stricter routes. */
export function readLiteral(text: string): string {
  return readSegment(text).replace(/[. ]+$/, '');
}

/** True for a value that the manifest lists, and for a word that is too short to be an identifier. */
function isKept(segment: string, rule: PathValueRule | undefined): boolean {
  return rule !== undefined && rule.listed.size > 0 ? rule.listed.has(segment) : isShortWord(segment);
}

function compileReplay({ hash, entries, secrets }: LogContext) {
  return {
    manifest: hash.slice(0, MANIFEST_DIGITS),
    /** Returns the names of the parameters of a query, which begins with its question mark; `*` for one that may be a secret. */
    queryNames: createQueryNames(new Set(entries.flatMap(({ query }) => Object.keys(query?.properties ?? {})))),
    /** Returns the name of a Content-Type; `other` for one that is neither common nor in the manifest. */
    mediaType: createMediaTypeNames(entries, secrets),
  };
}

const MAX_NAMES = 16;
const MAX_LENGTH = 32;
/** Stands for a name that may be a secret, such as the token in `?8f14e45f`. */
const HIDDEN = '*';
const IDENTIFIER = /^[A-Za-z_][A-Za-z_-]*\d{0,2}$/;

/** Creates the function that returns the parameter names in a query. It hides those that are not in the manifest and no words. */
function createQueryNames(manifestNames: ReadonlySet<string>): (query: string) => readonly string[] {
  return (query) => {
    const names: string[] = [];
    for (const pair of query.slice(1).split('&')) {
      if (pair === '') continue;
      if (names.length === MAX_NAMES) return [...names, HIDDEN];
      const equals = pair.indexOf('=');
      const encoded = equals === -1 ? pair : pair.slice(0, equals);
      const name = decodeFormText(encoded) ?? encoded;
      const isListed = name.length <= MAX_LENGTH && manifestNames.has(name);
      // A name without a value may be the value.
      names.push(isListed || (equals !== -1 && isPlainName(name)) ? name : HIDDEN);
    }
    return names;
  };
}

function isPlainName(name: string): boolean {
  return name.length <= MAX_LENGTH && IDENTIFIER.test(name) && name.split(/[^A-Za-z]+/).every(isWord);
}

import { isDeepStrictEqual } from 'node:util';
import { valueAt } from '../../../engine/json-pointer.ts';
import type { Path } from '../../../engine/problem/finding.ts';
import { ANY_ROLE, acceptedEntries, loginEntry } from '../../../engine/tokens/token-entries.ts';
import type { Comparison, DiffContext, DiffFinding, DiffWitness, MatchedRoutePair } from '../difference.ts';
import { findingAtKey, matchedRoutes } from '../matched-routes.ts';
import type { DiffMethod, DiffRoute, DiffSide } from '../side.ts';
import { commonUpstreams, endpointsKey } from './upstream-comparisons.ts';

/** A token method of both manifests. */
export interface MethodPair {
  readonly old: DiffMethod;
  readonly next: DiffMethod;
}

/** Pairs methods by their names, and those that were only renamed. The method of a manifest without names is the first one of the other. */
export function pairMethods({ old, next }: Pick<DiffContext, 'old' | 'next'>): MethodPair[] {
  const [before, now] = [old.methods, next.methods];
  const areFirst = before.length === 1 && now.length === 1;
  const isUnnamed = areFirst || [before, now].some((methods) => methods[0]?.name === undefined);
  const [first, other] = [before[0], now[0]];
  if (isUnnamed) return first === undefined || other === undefined ? [] : [{ old: first, next: other }];
  const isNamed = (methods: readonly DiffMethod[], { name }: DiffMethod) => methods.some((one) => one.name === name);
  return now.flatMap((method) => {
    const same = isNamed(before, method)
      ? before.find(({ name }) => name === method.name)
      : before.find((one) => !isNamed(now, one) && isSameMethod(one, method));
    return same === undefined ? [] : [{ old: same, next: method }];
  });
}

/** Two methods of one manifest have different issuers, so only one method is the same. */
function isSameMethod(old: DiffMethod, next: DiffMethod): boolean {
  return old.kind === next.kind && isDeepStrictEqual(old.effective, next.effective);
}

export const tokenComparison: Comparison = {
  rules: {
    'token-method': ['error', 'Tokens are verified by another method.'],
    'token-files': [
      'error',
      'The token settings name the same file or upstream, but its contents or endpoints changed.',
    ],
    'issuer-added': ['info', 'The manifest has one more token method. Routes accept its tokens only if they name it.'],
    'issuer-removed': ['warning', 'The manifest no longer has a token method, so its tokens are refused.'],
    'issuer-renamed': ['info', 'A token method has another name, so its callers have new counters of rate limits.'],
    'issuer-accepted': ['error', 'A route accepts the tokens of one more method.'],
    'issuer-refused': ['warning', 'A route no longer accepts the tokens of a method.'],
    'login-issuer': ['error', 'Another method verifies the tokens in the responses of a login.'],
  },
  *find(sides) {
    const pairs = pairMethods(sides);
    for (const pair of pairs) yield* changedMethod(pair, sides);
    if (sides.old.manifest.auth === undefined || sides.next.manifest.auth === undefined) return;
    for (const method of sides.next.methods)
      if (!pairs.some(({ next }) => next === method))
        yield { rule: 'issuer-added', message: `the token method "${method.name}" is new`, path: method.path };
    for (const method of sides.old.methods)
      if (!pairs.some(({ old }) => old === method)) {
        const message = `the token method "${method.name}" was removed`;
        yield { rule: 'issuer-removed', message, path: method.path, side: 'old' };
      }
    for (const pair of matchedRoutes(sides)) yield* changedIssuers(pair, pairs);
  },
};

function* changedMethod({ old, next }: MethodPair, sides: DiffContext): Generator<DiffFinding> {
  if (old.issuer !== undefined && next.issuer !== undefined && old.issuer !== next.issuer)
    yield {
      rule: 'issuer-renamed',
      message: `the token method "${old.issuer}" is now "${next.issuer}"`,
      path: next.path,
    };
  const label = next.issuer === undefined ? 'tokens are' : `tokens of "${next.issuer}" are`;
  if (old.kind !== next.kind) {
    const message = `${label} now verified by ${next.kind} (was ${old.kind})`;
    yield { rule: 'token-method', message, path: next.path };
    return;
  }
  const isSameText = (key: string) =>
    isDeepStrictEqual(textAt(sides.old, [...old.path, key]), textAt(sides.next, [...next.path, key]));
  const isFileChanged =
    isSameText('jwks') && !isDeepStrictEqual(valueAt(old.effective, ['jwks']), valueAt(next.effective, ['jwks']));
  if (isFileChanged || hasOtherIdentityService(old, next, sides)) {
    const message = 'the file or the upstream that the token settings name has changed';
    yield { rule: 'token-files', message, path: next.path.slice(0, -1) };
  }
}

function textAt({ redacted }: DiffSide, path: Path): unknown {
  return valueAt(redacted, path);
}

/** True if tokens are verified by an upstream that has the same name on both sides, but other endpoints. */
function hasOtherIdentityService(old: DiffMethod, next: DiffMethod, sides: DiffContext): boolean {
  const [before, now] = [old, next].map(identityUpstream);
  if (before === undefined || before !== now) return false;
  return [...commonUpstreams(sides)].some(
    (pair) => pair.id === before && endpointsKey(pair.old) !== endpointsKey(pair.next),
  );
}

function identityUpstream({ entry }: DiffMethod): string | undefined {
  return 'endpoint' in entry && typeof entry.endpoint === 'object' ? entry.endpoint.upstream : undefined;
}

/** Yields the token methods that only one of two routes accepts. */
function* changedIssuers(pair: MatchedRoutePair, pairs: readonly MethodPair[]): Generator<DiffFinding> {
  const { from, to } = pair;
  if (from.route.access === 'protected' && to.route.access === 'protected') {
    const [before, now] = [acceptedMethods(from), acceptedMethods(to)];
    const finding = (rule: string, change: string, method: DiffMethod) =>
      findingAtKey(pair, rule, 'issuers', `${change} ${tokensOf(method)}`, callerOf(pair, method));
    for (const method of now)
      if (!before.some((other) => isPair(pairs, other, method)))
        yield finding('issuer-accepted', 'now accepts', method);
    for (const method of before)
      if (!now.some((other) => isPair(pairs, method, other)))
        yield finding('issuer-refused', 'no longer accepts', method);
  }
  const [oldLogin, login] = [from, to].map(({ entry, side }) => entry.login && loginEntry(side.methods, entry.login));
  if (oldLogin === undefined || login === undefined) return;
  if (!isPair(pairs, oldLogin, login))
    yield findingAtKey(pair, 'login-issuer', 'login', `verifies the tokens of its responses by "${login.name}"`);
}

function acceptedMethods({ entry, side }: DiffRoute): readonly DiffMethod[] {
  return acceptedEntries(side.methods, entry.issuers);
}

function isPair(pairs: readonly MethodPair[], old: DiffMethod, next: DiffMethod): boolean {
  return pairs.some((pair) => pair.old === old && pair.next === next);
}

function tokensOf({ name }: DiffMethod): string {
  return name === undefined ? 'the tokens that it accepted' : `tokens of "${name}"`;
}

/** Returns a request with a token of a method that only one side accepts. */
function callerOf({ request, from, to }: MatchedRoutePair, { name, allow }: DiffMethod): DiffWitness | undefined {
  const isAllowed = (one: string) =>
    [from, to].every(
      ({ entry }) => entry.roles === undefined || [ANY_ROLE, one].some((name) => entry.roles?.includes(name)),
    );
  const allowed = allow.find(isAllowed);
  if (request === undefined || allowed === undefined || name === undefined) return undefined;
  return { request: { ...request, role: allowed, issuer: name } };
}

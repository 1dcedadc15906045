import { isDeepStrictEqual } from 'node:util';
import { getOrCreate } from '../../engine/get-or-create.ts';
import { rolesOfPair } from '../diff/comparisons/route-comparisons.ts';
import { changedIssuers, pairMethods } from '../diff/comparisons/token-comparisons.ts';
import { changedPath, effectOf } from '../diff/comparisons/upstream-comparisons.ts';
import type { DiffContext, DiffFinding, DiffWitness, MatchedRoutePair } from '../diff/difference.ts';
import { findingAtKey, requestWitness } from '../diff/matched-routes.ts';
import { forwardedWitness } from '../diff/witnesses/sample-witnesses.ts';
import { type Direction, directionOf, type PairCheck, type ProofFinding } from './directions.ts';
import { createLimitCheck } from './limit-checks.ts';
import { loginSendings } from './offline-side.ts';

/** Returns the comparisons of pairs that are exact for one pair. `diff` reports some of these differences once for all routes. */
export function createPairChecks(sides: DiffContext): readonly PairCheck[] {
  const methods = pairMethods(sides);
  const effects = new Map<unknown, string>();
  const effect = (upstream: Parameters<typeof effectOf>[0]) => getOrCreate(effects, upstream, () => effectOf(upstream));
  const sameCallers = new Map<string, boolean>();
  return [
    changedAccess,
    (pair) => {
      const rules = [pair.from, pair.to].map(({ entry }) => [entry.access, entry.roles, entry.issuers, entry.login]);
      const compare = () => changedCallers(pair, methods);
      return getOrCreate(sameCallers, JSON.stringify(rules), () => compare().next().done === true) ? [] : compare();
    },
    (pair) => changedUpstream(pair, effect),
    createLimitCheck(sides),
  ];
}

function* changedAccess(pair: MatchedRoutePair): Generator<ProofFinding> {
  const { from, to, request } = pair;
  if (from.route.access === to.route.access) return;
  const finding = (rule: string, direction: Direction, message: string, witness?: DiffWitness) => ({
    ...findingAtKey(pair, rule, 'access', message, witness),
    ...{ pair, hasCaller: false, direction },
  });
  if (to.route.access === 'protected')
    yield finding('route-protected', 'stricter', 'is protected: it requires a token', requestWitness(pair));
  else {
    // A request that is valid for the new route needs no token.
    const witness = forwardedWitness({ from: to, to, request });
    yield finding('route-public', 'looser', 'is public: it no longer requires a token', witness);
  }
}

function* changedCallers(pair: MatchedRoutePair, methods: ReturnType<typeof pairMethods>): Generator<ProofFinding> {
  const { from, to } = pair;
  if (from.route.auth === undefined || to.route.auth === undefined) return;
  const isOpened = from.route.access === 'protected' && to.route.access === 'public';
  if (isOpened || (from.route.access === 'public' && from.route.login === undefined)) return;
  for (const finding of rolesOfPair(pair, methods, 'role-widened', 'now allows these roles', 'next'))
    yield { ...finding, ...withLogin(finding, pair), pair, direction: 'looser' };
  for (const finding of rolesOfPair(pair, methods, 'role-narrowed', 'no longer allows these roles', 'old'))
    yield { ...finding, pair, direction: 'stricter' };
  for (const finding of changedIssuers(pair, methods)) {
    const direction = finding.rule === 'issuer-refused' ? 'stricter' : 'looser';
    yield { ...finding, ...withLogin(finding, pair), pair, direction };
  }
}

/** Without a caller, the response of a login shows the difference. */
function withLogin({ witness }: DiffFinding, pair: MatchedRoutePair): Pick<ProofFinding, 'witness' | 'sendings'> {
  return witness === undefined && pair.from.entry.login !== undefined
    ? { witness: forwardedWitness(pair), sendings: loginSendings(pair) }
    : {};
}

function* changedUpstream(pair: MatchedRoutePair, effect: typeof effectOf): Generator<ProofFinding> {
  const [old, next] = [pair.from.route.upstream, pair.to.route.upstream];
  const finding = (rule: string, direction: Direction, message: string): ProofFinding => ({
    ...findingAtKey(pair, rule, 'upstream', message, forwardedWitness(pair)),
    ...{ pair, direction },
  });
  for (const found of next === undefined ? [] : changedPath(pair))
    yield { ...found, direction: directionOf(found.rule) };
  if (old === undefined || next === undefined) {
    if (next !== undefined) yield finding('upstream-changed', 'looser', `now goes to the upstream "${next.id}"`);
    else if (old !== undefined) yield finding('upstream-changed', 'other', 'now gets a response of the gateway itself');
  } else if (effect(old) !== effect(next)) {
    const [before, now] = [old, next].map(({ endpoints }) => endpoints.map(({ url }) => url.href).sort());
    const isElsewhere = !isDeepStrictEqual(before, now) || old.host !== next.host;
    const hasLostCa = next.tls().ca === undefined && old.tls().ca !== undefined;
    const names = `"${next.id}" (was "${old.id}")`;
    if (isElsewhere)
      yield finding('upstream-changed', 'looser', `now goes to other addresses, or with another Host: ${names}`);
    else if (hasLostCa)
      yield finding('upstream-ca-removed', 'looser', `accepts certificates by any default authority: ${names}`);
    else yield finding('upstream-settings', 'other', `goes to an upstream with other settings: ${names}`);
  }
}

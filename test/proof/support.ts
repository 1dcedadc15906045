import { load } from '../../src/engine/load.ts';
import { createDiffSide, type DiffSide } from '../../src/prove/diff/side.ts';
import { readAllowances } from '../../src/prove/proof/allowances.ts';
import { type ChangeProof, type ChangeProperty, proveChange } from '../../src/prove/proof/prove-change.ts';
import { worldOf } from '../support/gateway.ts';

type Json = Record<string, unknown>;

/** The parts of a manifest with one protected route, which a case changes. */
export const BASE = {
  version: 1,
  upstreams: { up: { url: 'http://127.0.0.1:1' }, other: { url: 'http://127.0.0.1:2' } },
  auth: {
    tokens: { jwt: { jwks: 'http://127.0.0.1:9/', algorithms: ['ES256'], issuer: 'i', audience: 'a' } },
    role: { claim: '/role', allow: ['admin', 'user'], message: 'users only' },
  },
};

export function manifestOf(routes: readonly Json[], more: Json = {}): Json {
  const complete = routes.map((route) => ({ method: 'GET', upstream: 'up', access: 'protected', ...route }));
  return {
    ...BASE,
    ...more,
    routes: complete.map(({ upstream, ...route }) =>
      'respond' in route || 'redirect' in route ? route : { ...route, upstream },
    ),
  };
}

export function sideOfText(path: string, text: string, files: Readonly<Record<string, string>> = {}): DiffSide {
  const world = worldOf({}, files);
  const loaded = load({ path, text }, world);
  if (loaded.plan === undefined) throw new Error(JSON.stringify(loaded.problems.map(({ message }) => message)));
  return createDiffSide(loaded, world.readFile);
}

export function sideOf(manifest: Json, path = 'new.yaml'): DiffSide {
  return sideOfText(path, JSON.stringify(manifest));
}

export async function prove(
  old: Json,
  next: Json,
  property: ChangeProperty = 'no-new-access',
  allow?: string,
): Promise<ChangeProof> {
  const [before, now] = [sideOf(old, 'old.yaml'), sideOf(next)];
  const allowances = allow === undefined ? [] : readAllowances({ path: 'allow.yaml', text: allow }, now, {});
  return proveChange(before, now, property, allowances);
}

/** Returns the differences that a request shows, and the others. */
export function resultsOf({ differences }: ChangeProof) {
  const shown = differences.filter(({ severity }) => severity === 'error');
  const undecided = differences.filter(({ severity }) => severity !== 'error');
  return { shown, undecided, requests: shown.map(({ witness }) => witness?.request) };
}

/** Returns the rules of a proof: those with a request, and those without one in parentheses. */
export function rulesOf(proof: ChangeProof): string[] {
  const { shown, undecided } = resultsOf(proof);
  const rules = [...shown.map(({ rule }) => rule), ...undecided.map(({ rule }) => `(${rule})`)];
  return [...new Set(rules)].sort();
}

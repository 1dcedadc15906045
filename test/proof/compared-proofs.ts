import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { DiffSide } from '../../src/prove/diff/side.ts';
import { HEADER_RULES } from '../../src/prove/proof/directions.ts';
import { type ChangeProof, type ChangeProperty, proveChange } from '../../src/prove/proof/prove-change.ts';
import { sideOf } from '../diff/support.ts';
import { shrink } from '../model/shrink.ts';
import { bruteForce, type ComparedRequest, opens, sendingsOf } from './brute-force.ts';
import type { Decider } from './model-side.ts';
import { resultsOf } from './support.ts';

/** Two manifests, with the changes that lead from the first to the second one. */
export interface Change {
  readonly old: object;
  readonly next: object;
  readonly mutations?: readonly string[];
}

type Sides = readonly [old: DiffSide, next: DiffSide];

/** How the proofs of a change are compared with decisions about requests. */
export interface ProofComparison {
  /** Returns the manifest with the addresses of running servers. */
  readonly localized?: (manifest: object) => object;
  /** Returns a function for each manifest that decides about a request. */
  readonly decidersOf: (sides: Sides) => readonly [Decider, Decider];
  /** Yields requests with the decisions of both manifests. */
  readonly requests: (sides: Sides, deciders: readonly [Decider, Decider]) => AsyncIterable<ComparedRequest>;
  /** The properties with the kinds of differences whose effect these decisions do not have. */
  readonly unseen: RegExp;
}

/** The results of the proofs about changes. */
export class Counts {
  pairs = 0;
  holds = 0;
  broken = 0;
  undecided = 0;
  equivalent = 0;
  witnesses = 0;
}

/** Fails if a proof about one of the changes is wrong, with the smallest pair of manifests that shows it. */
export async function expectTrueProofs(
  count: number,
  changeOf: (seed: number) => Change,
  comparison: ProofComparison,
  firstSeed: number,
): Promise<Counts> {
  const counts = new Counts();
  for (let seed = firstSeed; counts.pairs < count; seed += 1) {
    const change = changeOf(seed);
    const found = await contradictionOf(change, comparison, counts);
    if (found === undefined) continue;
    const urls = urlsOf(change);
    // A shorter URL is another spelling of an address, or another server.
    const isSame = async ({ old, next }: Partial<Change>) =>
      old !== undefined &&
      next !== undefined &&
      urlsOf({ old, next }).every((url) => urls.includes(url)) &&
      (await contradictionOf({ old, next }, comparison))?.kind === found.kind;
    const { old, next } = await shrink({ old: change.old, next: change.next }, isSame);
    const small = await contradictionOf({ old, next }, comparison);
    expect.fail(JSON.stringify({ seed, mutations: change.mutations, old, next, ...small }, undefined, 1));
  }
  return counts;
}

function urlsOf(change: Change): readonly string[] {
  return JSON.stringify(change).match(/(?<="(?:url|jwks)":)"[^"]*"/g) ?? [];
}

/** A request that contradicts a proof. */
interface Contradiction extends ComparedRequest {
  /** Equal for contradictions of one kind. */
  readonly kind: string;
}

async function contradictionOf(
  change: Change,
  comparison: ProofComparison,
  counts = new Counts(),
): Promise<Contradiction | undefined> {
  const { localized = (manifest) => manifest } = comparison;
  const [old, next] = [sideOf(localized(change.old), 'old.yaml'), sideOf(localized(change.next))];
  if (old === undefined || next === undefined) return undefined;
  const sides = [old, next] as const;
  const deciders = comparison.decidersOf(sides);
  const prove = (property: ChangeProperty) => proveChange(old, next, property);
  const [access, equivalence] = [await prove('no-new-access'), await prove('equivalent')];
  counts.pairs += 1;
  if (access.holds) counts.holds += 1;
  else if (resultsOf(access).shown.length > 0) counts.broken += 1;
  else counts.undecided += 1;
  if (equivalence.holds) counts.equivalent += 1;
  if (access.holds || equivalence.holds) {
    const { opened, changed } = await bruteForce(comparison.requests(sides, deciders));
    if (access.holds && opened !== undefined) return { kind: 'no-new-access holds', ...opened };
    if (equivalence.holds && changed !== undefined) return { kind: 'equivalent holds', ...changed };
  }
  return (
    (await falseWitness(access, sides, deciders, comparison, counts)) ??
    (await falseWitness(equivalence, sides, deciders, comparison, counts))
  );
}

/** Returns the first request of a proof that does not show its difference. */
async function falseWitness(
  proof: ChangeProof,
  [, next]: Sides,
  [before, now]: readonly [Decider, Decider],
  { unseen }: ProofComparison,
  counts: Counts,
): Promise<Contradiction | undefined> {
  const { property } = proof;
  for (const { rule, witness } of resultsOf(proof).shown) {
    const request = witness?.request;
    const kind = `${property} ${rule}${request?.role === undefined ? ' of nobody' : ''}`;
    if (request === undefined || unseen.test(kind)) continue;
    counts.witnesses += 1;
    let isShown = false;
    for (const sending of sendingsOf(rule, request, next)) {
      if (isShown) break;
      const [was, is] = [await before(request, sending), await now(request, sending)];
      const isSeen = !isDeepStrictEqual(was.seen, is.seen);
      isShown = property === 'equivalent' ? isSeen : HEADER_RULES.test(rule) ? is.isServed && isSeen : opens(was, is);
    }
    if (!isShown) return { kind, request, before: await before(request), now: await now(request) };
  }
  return undefined;
}

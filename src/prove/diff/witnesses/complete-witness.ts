import type { DiffContext, DiffFinding, DiffWitness } from '../difference.ts';
import { jsonBodyWitness } from './body-requests.ts';
import { withCaller, withoutSecrets } from './callers.ts';

/** Adds the caller that the request needs, and the request that carries a body. Removes values from the environment. */
export function completeWitness(
  sides: DiffContext,
  { witness, pair, hasCaller = true }: DiffFinding,
): DiffWitness | undefined {
  if (witness === undefined) return undefined;
  const completed = pair !== undefined && hasCaller ? complete(sides, pair, witness) : witness;
  return withoutSecrets(completed, [sides.old, sides.next]);
}

function complete(sides: DiffContext, pair: NonNullable<DiffFinding['pair']>, witness: DiffWitness): DiffWitness {
  if (witness.request !== undefined) return { ...witness, request: withCaller(witness.request, pair) };
  return 'body' in witness ? jsonBodyWitness(sides, pair, witness.body) : witness;
}

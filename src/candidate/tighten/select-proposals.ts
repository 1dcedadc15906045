import { isDeepStrictEqual } from 'node:util';
import { applyProposals, type TightenInputs } from './apply-proposals.ts';
import type { Proposal } from './proposal.ts';
import { type FoundProposals, STAGES } from './search-proposals.ts';
import type { TightenState } from './tighten-state.ts';
import type { Usage } from './usage.ts';

/** A proposal and the ids of those that it needs. */
export interface ProposalWithNeeds {
  readonly proposal: Proposal;
  readonly needs: readonly string[];
}

/** Finds the proposals that each one needs: alone, it may not apply, or other routes may get the requests that it closes. */
export function findNeeds(first: TightenState, found: FoundProposals, usage: Usage, inputs: TightenInputs): ProposalWithNeeds[] {
  const independent = new Map(STAGES.flatMap((stage) => [...stage({ state: first, usage }, first)]).map((one) => [one.id, one]));
  const earlier: Proposal[] = [];
  const all: ProposalWithNeeds[] = [];
  for (const step of found.steps) {
    for (const proposal of step) {
      const alone = independent.get(proposal.id);
      const isIndependent = alone !== undefined && isDeepStrictEqual(alone.changes, proposal.changes);
      const needs = isIndependent ? [] : reduceNeeds(earlier, proposal, { first, usage, inputs });
      all.push({ proposal, needs: needs.map(({ id }) => id) });
    }
    earlier.push(...step);
  }
  return all;
}

/** More proposals than these are not tried one by one. */
const MAX_TRIED = 24;

/** Leaves out the earlier proposals, one by one, without which a proposal is found too. */
function reduceNeeds(
  earlier: readonly Proposal[],
  proposal: Proposal,
  { first, usage, inputs }: { readonly first: TightenState; readonly usage: Usage; readonly inputs: TightenInputs },
): readonly Proposal[] {
  if (earlier.length > MAX_TRIED) return earlier;
  const isFoundAfter = (proposals: readonly Proposal[]) => {
    const state = applyInOrder(first, proposals, inputs);
    return (
      state !== undefined &&
      STAGES.some((stage) =>
        [...stage({ state, usage }, first)].some(
          ({ id, changes }) => id === proposal.id && isDeepStrictEqual(changes, proposal.changes),
        ),
      )
    );
  };
  let needed = earlier;
  for (const one of earlier) {
    const fewer = needed.filter((other) => other !== one);
    if (isFoundAfter(fewer)) needed = fewer;
  }
  return needed;
}

/** Applies proposals one after the other; `undefined` if one cannot be applied. */
export function applyInOrder(
  first: TightenState,
  proposals: readonly Proposal[],
  inputs: TightenInputs,
): TightenState | undefined {
  let state: TightenState | undefined = first;
  for (const proposal of proposals) state = state && applyProposals(state, [proposal], inputs);
  return state;
}

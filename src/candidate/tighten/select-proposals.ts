import { applyProposals, type TightenInputs } from './apply-proposals.ts';
import { fallThroughOf } from './fall-through.ts';
import type { Proposal } from './proposal.ts';
import { proposeUnused } from './propose-unused.ts';
import type { TightenState } from './tighten-state.ts';
import type { Usage } from './usage.ts';

/** A proposal and the ids of those that it needs. */
export interface ProposalWithNeeds {
  readonly proposal: Proposal;
  readonly needs: readonly string[];
}

/** The selected proposals, and the manifest with them; without a state, they need others. */
export interface SelectedProposals {
  readonly proposals: readonly ProposalWithNeeds[];
  readonly state: TightenState | undefined;
}

/** Returns the named proposals with those that they need, and removes the definitions that then have no use. */
export function selectProposals(
  all: readonly ProposalWithNeeds[],
  only: readonly string[],
  { first, usage, inputs }: { readonly first: TightenState; readonly usage: Usage; readonly inputs: TightenInputs },
): SelectedProposals {
  const ids = new Set(only);
  // The loop also visits the ids that it adds.
  for (const id of ids) for (const need of all.find(({ proposal }) => proposal.id === id)?.needs ?? []) ids.add(need);
  const selected = all.filter(({ proposal }) => ids.has(proposal.id));
  let state: TightenState | undefined = first;
  for (const { proposal } of selected) state = state && applyClosed(state, proposal, inputs);
  const unused: Proposal[] = [];
  // A rate limit that is removed may leave a store without a use.
  while (state !== undefined) {
    const next: Proposal[] = [...proposeUnused({ state, usage }, first.loaded)];
    if (next.length === 0) break;
    unused.push(...next);
    state = applyProposals(state, next, inputs);
  }
  return { proposals: [...selected, ...unused.map((proposal) => ({ proposal, needs: [...ids] }))], state };
}

/** Applies a proposal unless another route would get the requests that it closes. */
function applyClosed(state: TightenState, proposal: Proposal, inputs: TightenInputs): TightenState | undefined {
  const { plan } = state.loaded;
  const route = plan.routes.find(({ id }) => id === proposal.route);
  const isOpen =
    route !== undefined && proposal.closes?.some((method) => fallThroughOf(route, method, plan) !== undefined);
  return isOpen ? undefined : applyProposals(state, [proposal], inputs);
}

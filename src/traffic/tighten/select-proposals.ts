import { applyProposals, type TightenInputs } from './apply-proposals.ts';
import { fallThroughOf } from './fall-through.ts';
import type { Proposal } from './proposal.ts';
import { proposeUnused } from './propose-unused.ts';
import type { TightenState } from './tighten-state.ts';
import type { Usage } from './usage.ts';

/** A proposal and the ids of those that it needs. */
export interface ProposalWithNeeds {
  readonly proposal: Proposal;
  /** The number of the batch that it was applied with. */
  readonly batch: number;
  readonly needs: readonly string[];
}

/** The selected proposals, and the manifest with them. */
export interface SelectedProposals {
  readonly proposals: readonly ProposalWithNeeds[];
  readonly state: TightenState;
}

/** The first manifest, and what all its versions share. */
interface SelectionContext {
  readonly first: TightenState;
  readonly usage: Usage;
  readonly inputs: TightenInputs;
}

/** Returns the named proposals with those that they need, and removes the definitions that then have no use. */
export function selectProposals(
  all: readonly ProposalWithNeeds[],
  only: readonly string[],
  context: SelectionContext,
): SelectedProposals {
  const ids = new Set(only);
  // The loop also visits the ids that it adds.
  for (const id of ids) for (const need of all.find(({ proposal }) => proposal.id === id)?.needs ?? []) ids.add(need);
  const named = all.filter(({ proposal }) => ids.has(proposal.id));
  const lastBatch = Math.max(...named.map(({ batch }) => batch));
  const earlier = all.filter(({ batch }) => batch <= lastBatch);
  const routes = new Set(named.flatMap(({ proposal }) => proposal.route ?? []));
  const ofRoutes = earlier.filter(
    ({ proposal: { id, route } }) => ids.has(id) || (route !== undefined && routes.has(route)),
  );
  // A proposal may need another one only because of the text or of a check: a WebSocket needs GET.
  for (const proposals of [named, ofRoutes, earlier]) {
    const state = applyInOrder(proposals, context);
    if (state !== undefined) return withoutUnused({ proposals, state }, context);
  }
  return { proposals: [], state: context.first };
}

/** Applies proposals batch by batch; `undefined` if one of them cannot be applied, or opens more than it closes. */
function applyInOrder(
  proposals: readonly ProposalWithNeeds[],
  { first, inputs }: SelectionContext,
): TightenState | undefined {
  let state: TightenState | undefined = first;
  for (const batch of Map.groupBy(proposals, (one) => one.batch).values()) {
    if (state === undefined || batch.some(({ proposal }) => isOpening(proposal, state as TightenState)))
      return undefined;
    state = applyProposals(
      state,
      batch.map(({ proposal }) => proposal),
      inputs,
    );
  }
  return state;
}

/** Removes definitions without a use until there are none: a rate limit that is removed may leave a store. */
function withoutUnused(selected: SelectedProposals, { first, usage, inputs }: SelectionContext): SelectedProposals {
  const unused: Proposal[] = [...proposeUnused({ state: selected.state, usage }, first.loaded)];
  const state = unused.length === 0 ? undefined : applyProposals(selected.state, unused, inputs);
  if (state === undefined) return selected;
  const needs = selected.proposals.map(({ proposal }) => proposal.id);
  const proposals = [
    ...selected.proposals,
    ...unused.map((proposal) => ({ proposal, batch: Number.POSITIVE_INFINITY, needs })),
  ];
  return withoutUnused({ proposals, state }, { first, usage, inputs });
}

/** True if another route would get requests that a proposal closes. */
function isOpening({ route: id, closes = [] }: Proposal, { loaded: { plan } }: TightenState): boolean {
  const route = plan.routes.find((one) => one.id === id);
  return route !== undefined && closes.some((method) => fallThroughOf(route, method, plan) !== undefined);
}

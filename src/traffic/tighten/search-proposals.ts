import { applyProposals, type TightenInputs } from './apply-proposals.ts';
import type { Proposal } from './proposal.ts';
import { proposeRateLimits } from './propose-rate-limits.ts';
import { proposeRoles } from './propose-roles.ts';
import { proposeMethods, proposeRoutes } from './propose-routes.ts';
import { proposeSwitches } from './propose-switches.ts';
import { proposeUnused } from './propose-unused.ts';
import { proposeWildcards } from './propose-wildcards.ts';
import type { Round } from './round.ts';
import type { TightenState } from './tighten-state.ts';
import type { Usage } from './usage.ts';

/** A group of proposals that change different parts of the text. */
type Stage = (round: Round, first: TightenState) => Iterable<Proposal>;

/** In this order: a wildcard with names needs no list of methods, and a removed route needs no roles. */
const STAGES: readonly Stage[] = [
  proposeWildcards,
  function* (round) {
    yield* proposeRoutes(round);
    yield* proposeMethods(round);
    yield* proposeSwitches(round);
    yield* proposeRateLimits(round);
  },
  proposeRoles,
  (round, { loaded }) => proposeUnused(round, loaded),
];

export interface FoundProposals {
  /** Proposals that were applied together, in the order in which they apply. */
  readonly batches: readonly (readonly Proposal[])[];
  /** The manifest with all proposals. */
  readonly state: TightenState;
}

/** Searches for proposals until the manifest with all of them gives no other. */
export function searchProposals(first: TightenState, usage: Usage, inputs: TightenInputs): FoundProposals {
  const rejected = new Set<string>();
  const batches: Proposal[][] = [];
  let state = first;
  let isChanged = true;
  while (isChanged) {
    isChanged = false;
    // A proposal that failed may work after others: a WebSocket needs GET.
    rejected.clear();
    for (const stage of STAGES) {
      const proposals = [...stage({ state, usage }, first)].filter(({ id }) => !rejected.has(id));
      const accepted = acceptProposals(state, proposals, inputs, rejected);
      for (const batch of accepted.batches) {
        const earlier = batches.flat();
        batches.push(batch.map((proposal) => withUniqueId(proposal, earlier)));
        isChanged = true;
      }
      state = accepted.state;
    }
  }
  return { batches, state };
}

/** Applies as many proposals as possible: all of them, or those of each half. Each one that fails alone is rejected. */
function acceptProposals(
  state: TightenState,
  proposals: readonly Proposal[],
  inputs: TightenInputs,
  rejected: Set<string>,
): FoundProposals {
  if (proposals.length === 0) return { batches: [], state };
  const next = applyProposals(state, proposals, inputs);
  if (next !== undefined) return { batches: [proposals], state: next };
  const [only] = proposals;
  if (only !== undefined && proposals.length === 1) {
    rejected.add(only.id);
    return { batches: [], state };
  }
  const middle = proposals.length >> 1;
  const left = acceptProposals(state, proposals.slice(0, middle), inputs, rejected);
  const right = acceptProposals(left.state, proposals.slice(middle), inputs, rejected);
  return { batches: [...left.batches, ...right.batches], state: right.state };
}

/** A part may change again after other proposals, which gives a second proposal for it: `method/contacts/2`. */
function withUniqueId(proposal: Proposal, earlier: readonly Proposal[]): Proposal {
  const count = earlier.filter(({ id }) => id === proposal.id || id.startsWith(`${proposal.id}/`)).length;
  return count === 0 ? proposal : { ...proposal, id: `${proposal.id}/${count + 1}` };
}

import type { PlannedManifest } from '../../engine/load.ts';
import type { Environment, Source } from '../../engine/manifest/source.ts';
import type { Range } from '../../engine/problem/finding.ts';
import type { TightenInputs } from './apply-proposals.ts';
import { findHints } from './find-hints.ts';
import { findNeeds } from './find-needs.ts';
import type { Hint, Proposal } from './proposal.ts';
import { unusedButKept } from './propose-routes.ts';
import { searchProposals } from './search-proposals.ts';
import { type ProposalWithNeeds, selectProposals } from './select-proposals.ts';
import { allowedToday, createState, type TightenState } from './tighten-state.ts';
import type { Usage } from './usage.ts';

/** A proposal with its place in the files. */
export interface LocatedProposal extends ProposalWithNeeds {
  readonly file: string;
  readonly range: Range;
}

/** The proposals for a manifest, and its texts before and after all of them. */
export interface TightenResult {
  readonly proposals: readonly LocatedProposal[];
  readonly hints: readonly Hint[];
  /** The routes without an allowed request that stay. */
  readonly kept: readonly { readonly route: string; readonly reason: string }[];
  readonly before: readonly Source[];
  readonly after: readonly Source[];
  /** The number of lines of requests that the manifest refuses today, although they were allowed. */
  readonly refusedToday: number;
}

/** The ids of `only` that are no proposals. */
export interface UnknownProposals {
  readonly unknown: readonly string[];
  readonly known: readonly string[];
}

/**
 * Proposes what a manifest could stop to allow. With all proposals it loads, allows every logged request that it allows now, and
 * makes no path reachable with fewer checks than its routes have now.
 *
 * @param only the ids of the proposals to apply, with those that they need; by default all
 */
export function tighten(
  loaded: PlannedManifest,
  usage: Usage,
  environment: Environment,
  only: readonly string[] = [],
): TightenResult | UnknownProposals {
  const allowed = allowedToday(loaded, usage);
  const inputs: TightenInputs = { environment, allowed };
  const first = createState(loaded, allowed, new Map());
  // A log without an allowed request says nothing about the use of the manifest.
  const found = allowed.length === 0 ? { batches: [], state: first } : searchProposals(first, usage, inputs);
  const all = findNeeds(found, first);
  const ids = all.map(({ proposal }) => proposal.id);
  const unknown = only.filter((id) => !ids.includes(id));
  if (unknown.length > 0) return { unknown, known: ids };
  const selected = only.length === 0 ? undefined : selectProposals(all, only, { first, usage, inputs });
  const { proposals, state } = selected ?? { proposals: all, state: found.state };
  return {
    proposals: proposals.map(({ proposal, batch, needs }) => ({
      proposal: { ...proposal, message: loaded.secrets.redactText(proposal.message) },
      batch,
      needs,
      ...locate(proposal, first, found.state),
    })),
    hints: [...findHints(first)],
    kept: allowed.length === 0 ? [] : [...unusedButKept({ state: found.state, usage })],
    before: loaded.sources,
    after: state.loaded.sources,
    refusedToday: usage.allowed.length - allowed.length,
  };
}

/** Returns the place of a proposal in the first manifest. A route that replaces a wildcard has the place of the wildcard. */
function locate({ path, route }: Proposal, first: TightenState, last: TightenState): { file: string; range: Range } {
  const { document, plan } = first.loaded;
  const origin = route === undefined ? undefined : (last.origins.get(route) ?? route);
  const index = plan.routes.findIndex(({ id }) => id === origin);
  const own = index === -1 ? path : ['routes', index, ...path.slice(2)];
  const where = { path: own, at: path[0] === 'routes' ? 'value' : 'key' } as const;
  return { file: document.fileOf(where), range: document.locate(where) };
}

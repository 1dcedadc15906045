import type { RouteEntry } from '../../engine/manifest/manifest.generated.ts';
import { fallThroughsOf } from './fall-through.ts';
import type { Proposal } from './proposal.ts';
import type { FoundProposals } from './search-proposals.ts';
import type { ProposalWithNeeds } from './select-proposals.ts';
import type { TightenState } from './tighten-state.ts';

/** Finds the proposals that each one needs: without them, its part does not exist, is in use, or another route gets its requests. */
export function findNeeds({ batches, state: last }: FoundProposals, first: TightenState): ProposalWithNeeds[] {
  const earlier: Proposal[] = [];
  const numbered = batches.flatMap((proposals, batch) => proposals.map((proposal) => ({ proposal, batch })));
  return numbered.map(({ proposal, batch }) => {
    const needed = new Set([
      ...earlier.filter(({ kind, route }) => route !== undefined && kind === proposal.kind && route === proposal.route),
      ...wildcardNeeds(proposal, earlier),
      ...fallThroughNeeds(proposal, earlier, first, last),
      ...(proposal.kind === 'unused' ? useNeeds(proposal, earlier, first) : []),
    ]);
    earlier.push(proposal);
    return { proposal, batch, needs: [...needed].map(({ id }) => id) };
  });
}

/** A route that replaces a wildcard needs the proposal that creates it. It may have the id of the wildcard. */
function wildcardNeeds({ route }: Proposal, earlier: readonly Proposal[]): Proposal[] {
  return earlier.filter(({ changes }) =>
    changes.some((change) => change.change === 'split' && change.into.some(({ id }) => id === route)),
  );
}

/** Returns the proposals for the routes that would get the requests that a proposal closes. */
function fallThroughNeeds(
  { route, closes = [] }: Proposal,
  earlier: readonly Proposal[],
  first: TightenState,
  last: TightenState,
): Proposal[] {
  const { plan } = first.loaded;
  const own = plan.routes.find(({ id }) => id === route);
  if (own === undefined || closes.length === 0) return [];
  const others = new Set(closes.flatMap((method) => fallThroughsOf(own, method, plan).map((other) => other.route.id)));
  const originOf = (id: string) => last.origins.get(id) ?? id;
  return earlier.filter(
    (other) => other.route !== undefined && other.closes !== undefined && others.has(originOf(other.route)),
  );
}

/** Returns the proposals that remove the uses of a definition. */
function useNeeds({ path: [map, name] }: Proposal, earlier: readonly Proposal[], first: TightenState): Proposal[] {
  const { manifest } = first.loaded;
  const uses = (entry: RouteEntry | undefined) => {
    if (map === 'upstreams') return entry?.upstream === name;
    if (map === 'rateLimits') return entry?.rateLimits?.includes(String(name)) === true;
    return map === 'schemas' && JSON.stringify(entry ?? null).includes('#/schemas/');
  };
  return earlier.filter(({ kind, route, path }) => {
    if (kind === 'unused')
      return map === 'stores' ? path[0] === 'rateLimits' : map === 'schemas' && path[0] === 'schemas';
    return kind === 'route' && uses(manifest.routes.find(({ id }) => id === route));
  });
}

import type { Proposal } from './proposal.ts';
import { formatList } from './propose-routes.ts';
import { evidenceOf, type Round } from './round.ts';
import { ENCODED_SLASH, type RouteUse } from './tighten-state.ts';

/** Proposes to remove what a route allows beyond plain requests, where no request used it. */
export function* proposeSwitches(round: Round): Generator<Proposal> {
  for (const use of round.state.uses) {
    if (use.groups.length === 0) continue;
    yield* proposeWebsocket(round, use);
    if (round.usage.isSampled) continue;
    yield* proposeEncodedSlash(round, use);
    yield* proposeTypes(round, use);
  }
}

/** Every tunnel has a line, also in a sampled log. */
function* proposeWebsocket(round: Round, use: RouteUse): Generator<Proposal> {
  const { route, groups, index } = use;
  if (!route.websocket || groups.some(({ isUpgrade }) => isUpgrade)) return;
  yield {
    id: `websocket/${route.id}`,
    kind: 'websocket',
    message: `no request to "${route.id}" opened a WebSocket; remove "websocket"`,
    route: route.id,
    path: ['routes', index, 'websocket'],
    changes: [{ change: 'remove', place: { route: route.id }, key: 'websocket' }],
    ...evidenceOf(round, use),
  };
}

function* proposeEncodedSlash(round: Round, use: RouteUse): Generator<Proposal> {
  const { route, groups, index } = use;
  if (!route.keepsEncodedSlash || groups.some(({ path }) => ENCODED_SLASH.test(path))) return;
  yield {
    id: `encoded-slash/${route.id}`,
    kind: 'encoded-slash',
    message: `no path of "${route.id}" had an encoded slash; remove "encodedSlash: keep"`,
    route: route.id,
    path: ['routes', index, 'encodedSlash'],
    changes: [{ change: 'remove', place: { route: route.id }, key: 'encodedSlash' }],
    ...evidenceOf(round, use),
  };
}

function* proposeTypes(round: Round, use: RouteUse): Generator<Proposal> {
  const { route, entry, groups, index } = use;
  const types = entry.body?.types ?? [];
  if (types.length < 2 || groups.some(({ hasReplay }) => !hasReplay)) return;
  const sent = [...new Set(groups.flatMap(({ mediaType }) => mediaType ?? []))];
  const needed = new Set(sent.flatMap((type) => entriesFor(type, types)));
  const unneeded = types.filter((type) => !needed.has(type));
  if (needed.size === 0 || unneeded.length === 0) return;
  yield {
    id: `type/${route.id}`,
    kind: 'type',
    message: `"${route.id}" got no body of ${formatList(unneeded)}; remove ${unneeded.length === 1 ? 'this type' : 'these types'}`,
    route: route.id,
    path: ['routes', index, 'body', 'types'],
    changes: [{ change: 'remove-items', place: { route: route.id, within: 'body' }, key: 'types', items: unneeded }],
    ...evidenceOf(round, use),
  };
}

/** Returns the entry that a type needs: the exact one before a wildcard. An uncommon type may be one of any wildcard. */
function entriesFor(mediaType: string, types: readonly string[]): readonly string[] {
  if (mediaType === 'other') return types.filter((type) => type.endsWith('*'));
  const exact = types.find((type) => type.toLowerCase() === mediaType);
  return exact === undefined ? types.filter((type) => acceptsType(type, mediaType)) : [exact];
}

function acceptsType(entry: string, mediaType: string): boolean {
  return entry.endsWith('*') && mediaType.startsWith(entry.toLowerCase().slice(0, -1));
}

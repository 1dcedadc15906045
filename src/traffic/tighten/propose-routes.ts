import { formatMethods, HTTP_METHODS, sortMethods } from '../../engine/http1/http-methods.ts';
import type { RouteEntry } from '../../engine/manifest/manifest.generated.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import { fallThroughOf } from './fall-through.ts';
import { narrowMethods } from './manifest-change.ts';
import type { Proposal } from './proposal.ts';
import { evidenceOf, type Round } from './round.ts';
import type { RequestGroup } from './usage.ts';

/** Proposes to remove the routes without an allowed request. */
export function* proposeRoutes(round: Round): Generator<Proposal> {
  if (round.usage.isSampled) return;
  const { plan } = round.state.loaded;
  for (const use of round.state.uses) {
    const { route, groups, index } = use;
    if (groups.length > 0 || route.methods.some((method) => fallThroughOf(route, method, plan) !== undefined)) continue;
    const evidence = evidenceOf(round, use);
    const only = evidence.refused === 0 ? 'had no request' : 'had only refused requests';
    yield {
      id: `route/${route.id}`,
      kind: 'route',
      message: `the route "${route.id}" ${only}; remove it`,
      route: route.id,
      path: ['routes', index],
      changes: [{ change: 'remove', place: { route: route.id } }],
      closes: route.methods,
      ...evidence,
    };
  }
}

/** Proposes to list the methods of the allowed requests of a route, and those that other routes would accept in its place. */
export function* proposeMethods(round: Round): Generator<Proposal> {
  if (round.usage.isSampled) return;
  const { plan } = round.state.loaded;
  for (const use of round.state.uses) {
    const { route, entry, groups, index } = use;
    const written = writtenMethods(entry);
    const used = new Set(usedMethods(entry, groups));
    const isNeeded = (method: string) => used.has(method) || fallThroughOf(route, method, plan) !== undefined;
    // A route accepts HEAD together with GET.
    const isKept = (method: string) =>
      acceptedMethods([method]).some((one) => route.methods.includes(one) && isNeeded(one));
    const kept = withoutImpliedHead(sortMethods(written.filter(isKept)), entry);
    if (kept.length === 0 || isComplete(kept, written)) continue;
    const reason = groups.length === 0 ? 'had no request' : `was used with ${formatList(sortMethods([...used]))} only`;
    const accepted = acceptedMethods(kept);
    yield {
      id: `method/${route.id}`,
      kind: 'method',
      message: `the route "${route.id}" ${reason}; allow no method but ${formatList(kept)}`,
      route: route.id,
      path: ['routes', index, 'method'],
      changes: narrowMethods(route.id, entry.method, kept),
      closes: route.methods.filter((method) => !accepted.includes(method)),
      ...evidenceOf(round, use),
    };
  }
}

/** Returns the methods that a route with these methods accepts. */
export function acceptedMethods(methods: readonly string[]): readonly string[] {
  return methods.includes('GET') && !methods.includes('HEAD') ? [...methods, 'HEAD'] : methods;
}

/** Returns the methods that an entry lists: all for `any`. */
function writtenMethods({ method }: RouteEntry): readonly string[] {
  if (method === 'any') return HTTP_METHODS;
  return typeof method === 'string' ? [method] : method;
}

/** Returns the methods of requests. A route with GET accepts HEAD too, so a HEAD request uses GET where the entry has it. */
export function usedMethods(entry: RouteEntry, groups: readonly RequestGroup[]): readonly string[] {
  const written = writtenMethods(entry);
  const used = groups.map(({ method }) => (method === 'HEAD' && written.includes('GET') ? 'GET' : method));
  return sortMethods([...new Set(used)]);
}

function withoutImpliedHead(methods: readonly string[], { method }: RouteEntry): readonly string[] {
  if (!methods.includes('GET')) return methods;
  // A list that has both keeps both, as written.
  if (Array.isArray(method) && method.includes('HEAD')) return sortMethods([...new Set([...methods, 'HEAD'])]);
  return methods.filter((one) => one !== 'HEAD');
}

function isComplete(kept: readonly string[], written: readonly string[]): boolean {
  return written.every((method) => kept.includes(method) || (method === 'HEAD' && kept.includes('GET')));
}

export function formatList(words: readonly string[]): string {
  return words.length < 2 ? formatMethods(words) : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

/** Returns why routes without an allowed request stay. */
export function* unusedButKept({
  state,
  usage,
}: Round): Generator<{ readonly route: string; readonly reason: string }> {
  for (const { route, groups } of state.uses)
    if (groups.length === 0) yield { route: route.id, reason: reasonToKeep(route, state.loaded.plan, usage.isSampled) };
}

function reasonToKeep(route: Route, plan: Plan, isSampled: boolean): string {
  if (isSampled) return 'the log has only a share of the requests, so its use may be missing';
  for (const method of route.methods) {
    const other = fallThroughOf(route, method, plan);
    if (other === undefined) continue;
    const requests = other.isSpelling ? 'requests with other spellings of its paths' : 'its requests';
    return `without it, ${requests} would match the route "${other.route.id}"`;
  }
  return 'the text has no form without it that is safe to write';
}

import { basename } from 'node:path';
import { formatMethods } from '../engine/http1/http-methods.ts';
import { compileInvariants } from '../engine/invariants/compile-invariants.ts';
import { meets } from '../engine/invariants/prove.ts';
import type { PlannedManifest } from '../engine/load.ts';
import type { Route } from '../engine/plan/route-definition.ts';
import { runToEnd } from '../engine/plan/sliced-work.ts';
import { intersect } from '../engine/routing/pattern.ts';
import { SamplePaths } from '../engine/routing/route-index.ts';
import { roleOf } from './file-links.ts';
import { filesOf, findOccurrences, KIND_LABELS, memberTexts, type NameOccurrence, nameAtOffset } from './names.ts';
import type { Project } from './project.ts';
import type { TextFile } from './text-file.ts';

const MAX_OTHER_ROUTES = 10;

/** Describes the name or the route at an offset, in Markdown; `undefined` if there is none, or no plan that knows it. */
export function hoverAt(file: TextFile, offset: number, projects: readonly Project[]): string | undefined {
  const name = nameAtOffset(file, offset);
  if (name !== undefined && name.kind !== 'route' && name.kind !== 'role') return describeName(name, filesOf(projects));
  const id = name?.kind === 'route' ? name.name : routeIdAt(file, offset);
  return projects.flatMap(({ planned }) => {
    const route = planned?.plan.routes.find((other) => other.id === id);
    return planned === undefined || route === undefined ? [] : [describeRoute(route, planned)];
  })[0];
}

/** Returns the id of the route at an offset: on one of its own keys, such as `path`, and not inside of one. */
function routeIdAt(file: TextFile, offset: number): string | undefined {
  const { positions } = file.parsed;
  const [key, index, , inside] = positions.pathAt(offset);
  if (roleOf(file) === 'test-file' || key !== 'routes' || typeof index !== 'number' || typeof inside === 'string')
    return undefined;
  const { row, depth } = positions.find([key, index], 'stop');
  return depth === 2 ? memberTexts(file, row)('id') : undefined;
}

/** Describes which requests reach a route and who may call it, in Markdown. Contains no value from the environment. */
function describeRoute(route: Route, { plan, manifest }: PlannedManifest): string {
  const { id, access, upstream, rateLimits, body } = route;
  const others = findMoreSpecificRoutes(route, plan.routes, plan.router.match);
  const shown = others.slice(0, MAX_OTHER_ROUTES).map((other) => `- ${requestsOf(other)}: route \`${other.id}\``);
  const limits = rateLimits === undefined ? [] : [...rateLimits.match, ...rateLimits.authorize, ...rateLimits.validate];
  const invariants = compileInvariants(manifest, []).filter(({ when }) => mayConcern(route, when));
  return [
    `**${id}**: ${access}`,
    `Requests: ${requestsOf(route)}`,
    ...(others.length === 0
      ? []
      : [['Without those of more specific routes:', '', ...shown, ...moreOf(others)].join('\n')]),
    `Callers: ${callersOf(route)}`,
    upstream === undefined ? 'The gateway responds itself.' : `Upstream: ${code(upstream.id)}`,
    ...(limits.length === 0 ? [] : [`Rate limits: ${limits.map((limit) => code(limit.id)).join(', ')}`]),
    ...(body === undefined ? [] : [`Body: ${describeBody(body)}`]),
    ...(invariants.length === 0 ? [] : [`Invariants: ${invariants.map((invariant) => code(invariant.id)).join(', ')}`]),
  ].join('\n\n');
}

function describeName(name: NameOccurrence, files: readonly TextFile[]): string {
  const places = findOccurrences(name, files);
  const [definition] = places.filter(({ isDefinition }) => isDefinition);
  const uses = places.filter(({ isDefinition }) => !isDefinition).length;
  const place = definition === undefined ? 'not defined' : `defined in ${basename(definition.file.path)}`;
  return `${KIND_LABELS[name.kind]} ${code(name.name)}: ${place}, ${uses === 1 ? '1 reference' : `${uses} references`}`;
}

/** Returns the routes that get some of the requests that the path and the methods of a route match. */
function findMoreSpecificRoutes(
  route: Route,
  routes: readonly Route[],
  match: (method: string, path: string) => Route | undefined,
): Route[] {
  const samples = runToEnd(SamplePaths.create(routes.map(({ pattern }) => pattern)));
  return routes.filter((other) => {
    const method = other.methods.find((name) => route.methods.includes(name));
    if (other === route || method === undefined) return false;
    const both = intersect(route.pattern, other.pattern);
    return both !== undefined && [...samples.of(both)].some((path) => match(method, path) === other);
  });
}

function moreOf(routes: readonly Route[]): string[] {
  return routes.length > MAX_OTHER_ROUTES ? [`- and ${routes.length - MAX_OTHER_ROUTES} more`] : [];
}

function mayConcern(route: Route, when: Parameters<typeof meets>[1]): boolean {
  const hasMethod = when.methods?.some((method) => route.methods.includes(method)) ?? true;
  return (
    hasMethod &&
    meets(route, when) &&
    (when.patterns?.some((other) => intersect(route.pattern, other) !== undefined) ?? true)
  );
}

function requestsOf({ methods, path }: Route): string {
  return code(`${formatMethods(methods)} ${path}`);
}

function callersOf({ access, auth, login }: Route): string {
  const roles = auth?.role.isAny ? 'any role' : `the role ${auth?.role.redactedRoles.map(code).join(' or ')}`;
  const issuers =
    auth?.issuers === undefined ? '' : ` of ${[...auth.issuers].map((name) => code(`${name}`)).join(' or ')}`;
  if (access === 'protected') return `a valid token${issuers} with ${roles}`;
  if (login !== undefined) return `anyone; a token in the response must be valid, with ${roles}`;
  return 'anyone, without a token';
}

function describeBody({ limitBytes, validate, types }: NonNullable<Route['body']>): string {
  return [
    validate === undefined ? 'no schema' : 'checked against a schema',
    ...(types === undefined ? ['any media type'] : []),
    `at most ${limitBytes} bytes`,
  ].join(', ');
}

/** Backticks in a value would end the code of Markdown. */
function code(text: string): string {
  return `\`${text.replaceAll('`', "'")}\``;
}

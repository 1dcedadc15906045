import type { PlannedManifest } from '../load.ts';
import { suggestion } from '../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import type { TestFile } from './test-file.generated.ts';

/** What a suite says of a manifest that this one does not have. */
export function findUnknownReferences(suite: TestFile, { plan, manifest }: PlannedManifest): Finding[] {
  const routes = plan.routes.map(({ id }) => id);
  const upstreams = plan.upstreams.map(({ id }) => id);
  const hasAuth = manifest.auth !== undefined;
  return [
    ...Object.entries(suite.tokens).flatMap(([text, token]) => unusableRole(token, ['tokens', text, 'role'], hasAuth)),
    ...suite.cases.flatMap(({ request, expect }, index) => [
      ...unusableRole(request, ['cases', index, 'request', 'role'], hasAuth),
      ...unknownReference(expect.route, routes, ['cases', index, 'expect', 'route'], 'route'),
      ...unknownReference(expect.upstream?.id, upstreams, ['cases', index, 'expect', 'upstream', 'id'], 'upstream'),
    ]),
  ];
}

function unknownReference(
  name: string | null | undefined,
  known: readonly string[],
  path: Path,
  what: 'route' | 'upstream',
): Finding[] {
  if (name === undefined || name === null || known.includes(name)) return [];
  return [errorAt(path, `${what}-unknown`, `the manifest has no ${what} "${name}"${suggestion(name, known)}`)];
}

function unusableRole({ role }: { readonly role?: unknown }, path: Path, hasAuth: boolean): Finding[] {
  if (role === undefined || hasAuth) return [];
  return [errorAtKey(path, 'auth-missing', 'the manifest has no "auth", so nobody has a role; remove this')];
}

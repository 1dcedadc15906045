import type { PlannedManifest } from '../../engine/load.ts';
import { suggestion } from '../../engine/problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../../engine/problem/finding.ts';
import type { TestFile } from './test-file.generated.ts';

/** Finds routes, upstreams and roles in a test file that the manifest does not have. */
export function findUnknownReferences(testFile: TestFile, { plan, manifest }: PlannedManifest): Finding[] {
  const routes = plan.routes.map(({ id }) => id);
  const upstreams = plan.upstreams.map(({ id }) => id);
  const hasAuth = manifest.auth !== undefined;
  return [
    ...Object.entries(testFile.tokens).flatMap(([text, token]) =>
      unusableRole(token, ['tokens', text, 'role'], hasAuth),
    ),
    ...testFile.cases.flatMap(({ request, expect }, index) => [
      ...unusableRole(request, ['cases', index, 'request', 'role'], hasAuth),
      ...unknownReference(expect.route, routes, ['cases', index, 'expect', 'route'], 'route'),
      ...unknownReference(expect.upstream?.id, upstreams, ['cases', index, 'expect', 'upstream', 'id'], 'upstream'),
    ]),
  ];
}

function unknownReference(
  name: string | null | undefined,
  existing: readonly string[],
  path: Path,
  kind: 'route' | 'upstream',
): Finding[] {
  if (name === undefined || name === null || existing.includes(name)) return [];
  return [errorAt(path, `${kind}-unknown`, `the manifest has no ${kind} "${name}"${suggestion(name, existing)}`)];
}

function unusableRole({ role }: { readonly role?: unknown }, path: Path, hasAuth: boolean): Finding[] {
  if (role === undefined || hasAuth) return [];
  return [errorAtKey(path, 'auth-missing', 'the manifest has no "auth", so no caller has a role; remove "role"')];
}

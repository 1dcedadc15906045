import type { Manifest } from '../manifest/manifest.generated.ts';
import type { Path } from '../problem/finding.ts';

type Tokens = NonNullable<Manifest['auth']>['tokens'];
type Way = NonNullable<Tokens['jwt'] | Tokens['introspection'] | Tokens['userinfo']>;

/** The one way in which a manifest verifies tokens, and its place; nothing when it has none. */
export function* waysOf({ auth }: Manifest): Generator<{ readonly way: Way; readonly path: Path }> {
  for (const [name, way] of Object.entries(auth?.tokens ?? {})) yield { way, path: ['auth', 'tokens', name] };
}

import type { Manifest } from '../manifest/manifest.generated.ts';
import type { Path } from '../problem/finding.ts';

type TokensEntry = NonNullable<Manifest['auth']>['tokens'];
type TokenMethodEntry = NonNullable<TokensEntry['jwt'] | TokensEntry['introspection'] | TokensEntry['userinfo']>;

/** The one way in which a manifest verifies tokens, and its place; nothing when it has none. */
export function* tokenMethods({ auth }: Manifest): Generator<{ readonly way: TokenMethodEntry; readonly path: Path }> {
  for (const [name, way] of Object.entries(auth?.tokens ?? {})) yield { way, path: ['auth', 'tokens', name] };
}

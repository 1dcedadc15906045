import type { Manifest } from '../../engine/manifest/manifest.generated.ts';
import type { Path } from '../../engine/problem/finding.ts';

type TokensEntry = NonNullable<Manifest['auth']>['tokens'];
type TokenMethodEntry = NonNullable<TokensEntry['jwt'] | TokensEntry['introspection'] | TokensEntry['userinfo']>;

/** Yields the token method of a manifest with its path, or nothing if there is none. The schema allows only one. */
export function* tokenMethods({
  auth,
}: Manifest): Generator<{ readonly entry: TokenMethodEntry; readonly path: Path }> {
  for (const [name, entry] of Object.entries(auth?.tokens ?? {})) yield { entry, path: ['auth', 'tokens', name] };
}

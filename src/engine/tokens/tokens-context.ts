import type { Environment } from '../manifest/source.ts';
import { errorAt, type Finding, type Path } from '../problem/finding.ts';
import type { Secrets } from '../problem/redaction.ts';
import type { Upstreams } from '../settings/upstream.ts';
import type { NetworkVerifier } from './verifier.ts';

/** Everything that compiling `auth.tokens` needs from the rest of the manifest. */
export interface TokensContext {
  readonly readFile: Environment['readFile'];
  readonly upstreams: Upstreams;
  readonly secrets: Secrets;
  readonly findings: Finding[];
  /** Returns the verifier of the main thread with a key; absent in the main thread. */
  readonly networkVerifier?: ((key: string) => NetworkVerifier) | undefined;
}

/** Returns true if a secret came from the environment. Otherwise reports it: everyone who can read the file would see it. */
export function requireSecretFromEnvironment(
  path: Path,
  { secrets, findings }: Pick<TokensContext, 'secrets' | 'findings'>,
): boolean {
  if (secrets.isSecret(path)) return true;
  const message = 'a secret must not be in the file, not even as a default; write ${NAME}, and set the variable NAME';
  findings.push({ ...errorAt(path, 'secret-in-file', message), isSecret: true });
  return false;
}

import type { Environment } from '../../manifest/source.ts';
import { errorAt, type Finding, type Path } from '../../problem/finding.ts';
import type { Secrets } from '../../problem/redaction.ts';
import type { Upstreams } from '../settings/upstream.ts';

/** Everything that compiling `auth.tokens` needs from the rest of the manifest. */
export interface TokensContext {
  readonly readFile: Environment['readFile'];
  readonly upstreams: Upstreams;
  readonly secrets: Secrets;
  readonly findings: Finding[];
}

/** Reports a secret that is written in the file, where everyone who can read the file sees it. Returns true if there is none. */
export function requireSecretFromEnvironment(
  path: Path,
  { secrets, findings }: Pick<TokensContext, 'secrets' | 'findings'>,
): boolean {
  if (secrets.isSecret(path)) return true;
  const message = 'a secret must not be in the file, not even as a default; write ${NAME}, and set the variable NAME';
  findings.push({ ...errorAt(path, 'secret-in-file', message), isSecret: true });
  return false;
}

import type { Environment } from '../../manifest/source.ts';
import { errorAt, type Finding, type Path } from '../../problem/finding.ts';
import type { Secrets } from '../../problem/redaction.ts';
import type { Upstreams } from '../settings/upstream.ts';

/** What the compiler of `auth.tokens` may know of the rest, and where it tells what is wrong. */
export interface TokensContext {
  readonly readFile: Environment['readFile'];
  readonly upstreams: Upstreams;
  /** Whether the value at a path came from the environment. */
  readonly secrets: Secrets;
  readonly findings: Finding[];
}

/** A secret of the file's is everybody's who may read the file. */
export function requireSecretFromEnvironment(
  path: Path,
  { secrets, findings }: Pick<TokensContext, 'secrets' | 'findings'>,
): boolean {
  if (secrets.isSecret(path)) return true;
  const message = 'a secret must not stand in the file, nor as a default; write ${NAME}, and set the variable NAME';
  findings.push({ ...errorAt(path, 'secret-in-file', message), isSecret: true });
  return false;
}

import type { Environment } from '../manifest/source.ts';
import { errorAt, type Finding, type Path, quoteFreeErrorAt } from '../problem/finding.ts';
import type { Secrets } from '../problem/redaction.ts';

/** A file of the manifest with a certificate, a chain or several authorities. Times are in milliseconds since the Unix epoch. */
export interface CertificateFile {
  /** For example `['server', 'tls', 'certificate']`. */
  readonly path: Path;
  /** When the last one of its certificates becomes valid. */
  readonly validFromMs: number;
  /** When the first one of its certificates expires. */
  readonly expiresMs: number;
  /** Returns which certificate of the file needs another one, and why; `undefined` if all are valid for 14 more days. */
  readonly problemAt: (nowMs: number) => string | undefined;
}

/** The inputs of the compilers of all parts of a manifest. */
export interface CompileContext {
  readonly readFile: Environment['readFile'];
  readonly secrets: Secrets;
  readonly findings: Finding[];
  /** Collects the certificate files that the manifest names. */
  readonly certificates: CertificateFile[];
}

/** Returns true if a secret came from the environment. Otherwise reports it: everyone who can read the file would see it. */
export function requireSecretFromEnvironment(
  path: Path,
  { secrets, findings }: Pick<CompileContext, 'secrets' | 'findings'>,
): boolean {
  if (secrets.isSecret(path)) return true;
  const message =
    'a secret must not be in the file, not even as a default; write ${NAME} and set the variable NAME, or write ${file:/run/secrets/NAME}';
  findings.push({ ...errorAt(path, 'secret-in-file', message), isSecret: true });
  return false;
}

/** Reports a secret that did not come from the environment, or that is shorter than `min` characters. */
export function checkSecret(
  secret: string,
  path: Path,
  { rule, noun = 'secret', min }: { readonly rule: string; readonly noun?: string; readonly min: number },
  context: Pick<CompileContext, 'secrets' | 'findings'>,
): void {
  if (!requireSecretFromEnvironment(path, context) || secret.length >= min) return;
  const message = `a ${noun} of fewer than ${min} characters can be guessed; set a longer one, such as the output of "openssl rand -hex 32"`;
  context.findings.push(quoteFreeErrorAt(path, rule, message));
}

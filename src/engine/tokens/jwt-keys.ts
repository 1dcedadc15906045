import { isProtectedInTransit } from '../dns/loopback.ts';
import type { Jwt, KeySet as KeySetEntry } from '../manifest/manifest.generated.ts';
import { describeFileError } from '../manifest/source.ts';
import { durationMs, timerMs } from '../manifest/units.ts';
import { errorAt, errorAtKey, type Path, quoteFreeErrorAt } from '../problem/finding.ts';
import { parseHttpUrl } from '../settings/address.ts';
import { requireSecretFromEnvironment } from '../settings/compile-context.ts';
import { parseStrictJson } from '../validation/strict-json.ts';
import type { TokensContext } from './identity-endpoint.ts';
import { MAX_KEYS, readKeySet, secretKeySet, type VerificationKeySet } from './key-set.ts';
import { RemoteKeySource } from './remote-key-source.ts';
import { type KeySource, staticKeySource } from './token-method.ts';

/** A key source. `dependencies` identifies keys that are not in the manifest itself. */
type JwtKeySource = KeySource & { readonly dependencies?: string };

const SOURCES = ['jwks', 'discovery', 'secret'] as const;

/** Compiles the one source of keys that a manifest names; `undefined` after an error. */
export function compileJwtKeys(entry: Jwt, path: Path, context: TokensContext): JwtKeySource | undefined {
  const { findings } = context;
  const [source, other] = SOURCES.filter((name) => entry[name] !== undefined);
  if (source === undefined) {
    const message = 'no keys are configured for these tokens; add one of: jwks, discovery, secret';
    findings.push(errorAtKey(path, 'jwt-keys', message));
    return undefined;
  }
  if (other !== undefined) {
    const message = `only one source of keys is allowed; remove ${source} or ${other}`;
    findings.push(errorAtKey([...path, other], 'jwt-keys', message));
    return undefined;
  }
  if (!hasMatchingAlgorithms(entry, path, context)) return undefined;
  if (entry.secret !== undefined) return compileSecret(entry.secret, entry, path, context);
  if (entry.discovery !== undefined) return compileDiscovery(entry.discovery, entry, path, context);
  if (typeof entry.jwks === 'object') return compileInlineKeys(entry.jwks, entry, path, context);
  return compileKeyLocation(entry.jwks ?? '', entry, path, context);
}

/** Refuses HMAC algorithms for public keys: an attacker could sign tokens with the text of a public key as the secret. */
function hasMatchingAlgorithms({ secret, algorithms }: Jwt, path: Path, { findings }: TokensContext): boolean {
  const index = algorithms.findIndex((algorithm) => algorithm.startsWith('HS') !== (secret !== undefined));
  if (index < 0) return true;
  const message =
    secret === undefined
      ? `"${algorithms[index]}" needs a secret, but these are public keys; write ES256 or another algorithm of the issuer, or secret: \${JWT_SECRET}`
      : `"${algorithms[index]}" needs public keys, but this is a secret; write HS256, HS384 or HS512`;
  findings.push(errorAt([...path, 'algorithms', index], 'jwt-algorithm', message));
  return false;
}

function compileSecret(
  secret: string,
  { algorithms }: Jwt,
  path: Path,
  context: TokensContext,
): JwtKeySource | undefined {
  const isFromEnvironment = requireSecretFromEnvironment([...path, 'secret'], context);
  const bytes = Buffer.byteLength(secret);
  const index = algorithms.findIndex((algorithm) => bytes * 8 < Number(algorithm.slice(2)));
  if (isFromEnvironment && index >= 0) {
    const algorithm = algorithms[index] ?? '';
    const message = `"${algorithm}" needs a secret of ${Number(algorithm.slice(2)) / 8} bytes or more (RFC 7518 section 3.2), but this one is shorter; set a longer one, such as the output of "openssl rand -hex 64"`;
    context.findings.push(errorAt([...path, 'algorithms', index], 'jwt-secret', message));
  }
  return isFromEnvironment && index < 0 ? staticKeySource(secretKeySet(secret)) : undefined;
}

function compileDiscovery(
  discovery: string,
  entry: Jwt,
  path: Path,
  { findings }: TokensContext,
): JwtKeySource | undefined {
  const url = parseHttpUrl(discovery);
  const reason = discoveryUrlError(url);
  if (reason !== undefined) {
    findings.push(quoteFreeErrorAt([...path, 'discovery'], 'discovery', reason));
    return undefined;
  }
  return remoteKeySource(entry, async (signal) => {
    const { discoverJwksUri, fetchKeySet } = await import('./send-identity-request.ts');
    return fetchKeySet(await discoverJwksUri(url as URL, entry.issuer, signal), entry.algorithms, signal);
  });
}

/** @param url the result of `parseHttpUrl` */
function discoveryUrlError(url: URL | string): string | undefined {
  if (typeof url === 'string') return `${url}; write the address of the issuer, such as https://identity.example`;
  if (!isProtectedInTransit(url))
    return 'metadata must use https, or http on loopback; write https://, or jwks: with a URL';
  return url.pathname.includes('/.well-known/')
    ? 'this is the address of the metadata; write the address of the issuer, without "/.well-known/" and everything after it'
    : undefined;
}

function compileInlineKeys(
  jwks: KeySetEntry,
  { algorithms }: Jwt,
  methodPath: Path,
  { findings }: TokensContext,
): JwtKeySource | undefined {
  const path = [...methodPath, 'jwks', 'keys'];
  if (jwks.keys.length > MAX_KEYS) {
    findings.push(errorAt(path, 'jwks', `this set has more than ${MAX_KEYS} keys; remove old ones`));
    return undefined;
  }
  const { keys, rejected } = readKeySet(jwks, algorithms);
  for (const { index, reason } of rejected) findings.push(errorAt([...path, index], 'jwks', `this key ${reason}`));
  if (rejected.length === 0 && keys.isEmpty) findings.push(errorAt(path, 'jwks', NO_USABLE_KEY));
  return rejected.length > 0 || keys.isEmpty ? undefined : staticKeySource(keys);
}

const NO_USABLE_KEY =
  'no key here supports one of the algorithms; add another key, or add its algorithm to "algorithms"';

function compileKeyLocation(
  jwks: string,
  entry: Jwt,
  methodPath: Path,
  context: TokensContext,
): JwtKeySource | undefined {
  const path = [...methodPath, 'jwks'];
  if (/^https?:/.test(jwks)) {
    const url = parseHttpUrl(jwks);
    if (typeof url !== 'string') {
      return remoteKeySource(entry, async (signal) =>
        (await import('./send-identity-request.ts')).fetchKeySet(url, entry.algorithms, signal),
      );
    }
    const message = `${url}; write for example https://identity.example/.well-known/jwks.json`;
    context.findings.push(quoteFreeErrorAt(path, 'jwks', message));
    return undefined;
  }
  try {
    const keys = readKeyFile(context.readFile(jwks), entry.algorithms);
    return { ...staticKeySource(keys), dependencies: keys.fingerprint };
  } catch (error) {
    context.findings.push(quoteFreeErrorAt(path, 'jwks', keyFileMessage(error)));
    return undefined;
  }
}

function readKeyFile(text: string, algorithms: readonly string[]): VerificationKeySet {
  if (!text.isWellFormed()) throw new Error('it is not UTF-8');
  const parsed = parseStrictJson(Buffer.from(text));
  if ('violation' in parsed && parsed.violation.pointer !== '')
    throw new Error(`${parsed.violation.pointer} ${parsed.violation.message}`);
  const { keys, rejected } = readKeySet('value' in parsed ? parsed.value : undefined, algorithms);
  for (const { index, reason } of rejected) throw new Error(`its key ${index + 1} ${reason}`);
  if (keys.isEmpty) throw new Error('no key in it supports one of the algorithms');
  return keys;
}

function keyFileMessage(error: unknown): string {
  if (error instanceof Error && 'code' in error)
    return `the key file cannot be read: ${describeFileError(String(error.code))}${error.code === 'ENOENT' ? ', or a URL' : ''}`;
  const reason = error instanceof Error ? error.message : String(error);
  return `the key file cannot be used: ${reason}; write a URL, or name another file`;
}

/** @param fetch imports its code, so that `check` and `lint` do not load the TLS library */
function remoteKeySource(
  { timeout, staleIfError }: Jwt,
  fetch: (signal: AbortSignal) => Promise<VerificationKeySet>,
): KeySource {
  return new RemoteKeySource(fetch, { timeoutMs: timerMs(timeout), staleMs: durationMs(staleIfError) });
}

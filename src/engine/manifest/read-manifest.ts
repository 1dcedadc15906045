import { errorAt, type Finding, type Path } from '../problem/finding.ts';
import type { Secret } from '../problem/redaction.ts';
import { check } from './check.ts';
import { sha256, type TrackedEnvironment } from './dependencies.ts';
import type { Document, DocumentParser } from './document.ts';
import { readDocument } from './include.ts';
import type { Manifest } from './manifest.generated.ts';
import { isManifestKey, isMergedKey } from './manifest-keys.ts';
import type { AddressOverrides, Environment, Source } from './source.ts';
import { substitute } from './substitute.ts';

/** The result of the first stage: the texts of a manifest, parsed and merged into one document. */
export interface ReadManifest {
  readonly document: Document;
  /** The text of the manifest, then those of the files that it includes. */
  readonly sources: readonly Source[];
  /** Syntax errors, and errors of `include`. With one of them the manifest is not checked. */
  readonly findings: readonly Finding[];
}

/**
 * The result of the second stage: a manifest with substituted values and defaults. It holds plain values, so a worker thread
 * may create it.
 */
export interface CheckedManifest {
  /** Valid only if there are no findings. */
  readonly manifest: Manifest;
  /** SHA-256, in hex, of the manifest's text and of the files that it includes. */
  readonly hash: string;
  /** The parts that violate the schema, named as `compilePlan` names them. */
  readonly invalidParts: ReadonlySet<string>;
  /** The values from the environment. */
  readonly secrets: readonly Secret[];
  readonly findings: readonly Finding[];
}

/** Parses a manifest and the files that it includes. */
export function readManifest(
  source: Source,
  environment: TrackedEnvironment,
  parseText?: DocumentParser,
): ReadManifest {
  const { document, findings } = readDocument(source, environment, parseText);
  const sources = [document, ...document.included].map(({ file, text }) => ({ path: file, text }));
  return { document, sources, findings };
}

/**
 * Substitutes environment variables, validates against the schema, fills in defaults and applies the overrides; `undefined`
 * after a syntax error.
 */
export function checkManifest(
  { document, findings: syntax }: Pick<ReadManifest, 'document' | 'findings'>,
  { env, overrides = {} }: Pick<Environment, 'env' | 'overrides'>,
): CheckedManifest | undefined {
  if (syntax.length > 0) return undefined;
  const substituted = substitute(document.value, env);
  const { secrets } = substituted;
  const { manifest, findings } = check(substituted);
  return {
    manifest: overrideAddresses(manifest, overrides),
    hash: manifestHash(document),
    invalidParts: invalidPartsOf(findings),
    secrets,
    findings: [...substituted.findings, ...secrets.flatMap(({ path }) => printedValueFindings(path)), ...findings],
  };
}

/** Replaces the addresses of the listeners. The token and the certificates of the admin API stay. */
function overrideAddresses(manifest: Manifest, { listen, admin }: AddressOverrides): Manifest {
  if (listen === undefined && admin === undefined) return manifest;
  // A file without values is null.
  const written = (manifest as Manifest | null)?.admin;
  const entry = typeof written === 'object' && admin !== undefined ? { ...written, listen: admin } : admin;
  return {
    ...manifest,
    ...(listen === undefined ? {} : { listen }),
    ...(entry === undefined ? {} : { admin: entry }),
  };
}

/** Reports variables in values that logs, metrics and messages print. */
function printedValueFindings(path: Path): Finding[] {
  const [first, , key, inside] = path;
  if (first === 'invariants')
    return [errorAt(path, 'environment', 'an invariant is the same in every environment; write it without a variable')];
  if (first !== 'routes' || inside !== undefined || (key !== 'id' && key !== 'path')) return [];
  const message = `the ${key} of a route is printed in logs and metrics, and a value from the environment never is; write it here without a variable`;
  return [errorAt(path, 'environment', message)];
}

function manifestHash({ text, included }: Document): string {
  return sha256(included.length === 0 ? text : JSON.stringify([text, ...included.map((other) => other.text)]));
}

function invalidPartsOf(findings: readonly Finding[]): Set<string> {
  const parts = new Set<string>();
  for (const { location } of findings) {
    const [key = '', member] = 'path' in location ? location.path : [];
    parts.add(member === undefined || !isMergedKey(String(key)) ? String(key) : `${key}/${member}`);
    if (!isManifestKey(String(key))) parts.add('');
  }
  return parts;
}

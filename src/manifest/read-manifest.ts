import { errorAt, type Finding, type Path } from '../problem/finding.ts';
import { check } from './check.ts';
import { sha256, type TrackedEnvironment } from './dependencies.ts';
import type { Document } from './document.ts';
import { type DocumentParser, readDocument } from './include.ts';
import type { Manifest } from './manifest.generated.ts';
import type { Secret } from './secrets.ts';
import type { Source } from './source.ts';
import { substitute } from './substitute.ts';

/** What was written, before it is known whether it can be served. */
export interface ReadManifestResult {
  readonly document: Document;
  readonly findings: readonly Finding[];
  /** `undefined`: it cannot be read. */
  readonly checked: SchemaCheckedManifest | undefined;
}

/** A manifest that was read and held to the schema: plain values, which another thread may have made. */
export interface SchemaCheckedManifest {
  /** In name only where there are findings. */
  readonly manifest: Manifest;
  /** SHA-256 of the manifest's text, and of what it includes, in hex. */
  readonly hash: string;
  /** The parts that the schema has refused, as `compile` names them. */
  readonly invalidParts: ReadonlySet<string>;
  /** The values that came from the environment. */
  readonly secrets: readonly Secret[];
}

/** Text to manifest: parse, include, substitute, check. */
export function readManifest(
  source: Source,
  world: TrackedEnvironment,
  parseText?: DocumentParser,
): ReadManifestResult {
  const { document, findings: syntax } = readDocument(source, world, parseText);
  if (syntax.length > 0) return { document, findings: syntax, checked: undefined };
  const substituted = substitute(document.value, world.env);
  const { manifest, findings } = check(substituted);
  const checked = {
    manifest,
    hash: manifestHash(document),
    invalidParts: partsWithErrors(findings),
    secrets: substituted.secrets,
  };
  const named = substituted.secrets.flatMap(({ path }) => routeNameFindings(path));
  return { document, findings: [...substituted.findings, ...named, ...findings], checked };
}

/** The name and the path of a route stand in logs, metrics and messages, where nothing from the environment may stand. */
function routeNameFindings(path: Path): Finding[] {
  const [first, , key, inside] = path;
  if (first !== 'routes' || inside !== undefined || (key !== 'id' && key !== 'path')) return [];
  const message = `the ${key} of a route is printed in logs and metrics, and a value from the environment never is; write it here without a variable`;
  return [errorAt(path, 'environment', message)];
}

/** The texts that a manifest was read from, its own first. */
export function sourcesOf(document: Document): Source[] {
  return [document, ...document.included].map(({ file, text }) => ({ path: file, text }));
}

function manifestHash({ text, included }: Document): string {
  return sha256(included.length === 0 ? text : JSON.stringify([text, ...included.map((other) => other.text)]));
}

/** The parts of the manifest that the schema has refused, as `compile` names them. */
function partsWithErrors(findings: readonly Finding[]): Set<string> {
  const faulty = new Set<string>();
  for (const { location } of findings) {
    const [key, inside] = 'path' in location ? location.path : [];
    const isWhole = inside === undefined || !DIVISIBLE.includes(String(key));
    faulty.add(isWhole ? String(key ?? '') : `${key}/${inside}`);
    if (!KEYS.has(String(key))) faulty.add('');
  }
  return faulty;
}

const DIVISIBLE = ['upstreams', 'routes', 'schemas'];
const KEYS = new Set([
  ...['version', 'include', 'listen', 'admin', 'server', 'reload', 'auth', 'cors', 'lint', 'log', 'tracing'],
  ...DIVISIBLE,
]);

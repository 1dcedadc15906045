import { check } from './manifest/check.ts';
import { type Document, parse } from './manifest/document.ts';
import { type Files, keepFiles, sha256 } from './manifest/files.ts';
import type { Manifest } from './manifest/manifest.generated.ts';
import type { Source, World } from './manifest/source.ts';
import { substitute } from './manifest/substitute.ts';
import { compile } from './plan/compile.ts';
import type { Plan } from './plan/plan.ts';
import type { Finding, Path } from './problem/finding.ts';
import { hasErrors, type Problem, toProblems } from './problem/problem.ts';

export type Loaded = Planned | (Omit<ReadingOf<{ readonly plan: undefined }>, 'findings'> & Told);

/** A plan, and what it was made of. */
export type Planned = Omit<ReadingOf<{ readonly manifest: Manifest; readonly plan: Plan }>, 'findings'> & Told;

interface Told {
  readonly problems: readonly Problem[];
}

/**
 * Text to plan: parse, check, compile. All or nothing: with one error there is no plan. Every verb and the
 * reload call this one function.
 *
 * @param previous the plan in force; parts of it whose definition did not change are taken over
 */
export function load(source: Source, world: World, previous?: Plan): Loaded {
  const { findings, ...reading } = read(source, world, previous);
  return { ...reading, problems: toProblems(findings, reading.document) };
}

/** What the stages make of a text, for those who look at more than the plan. */
export type Reading =
  | ReadingOf<{ readonly manifest: Manifest; readonly plan: Plan }>
  | ReadingOf<{ readonly plan: undefined }>;

type ReadingOf<Made> = Made & {
  readonly document: Document;
  readonly findings: readonly Finding[];
  readonly files: Files;
  /** Whether the value at a path came from the environment: such a value is never printed. */
  readonly isSecret: (path: Path) => boolean;
};

/** The stages of `load`, with what each of them made. */
export function read(source: Source, world: World, previous?: Plan): Reading {
  const { files, readFile } = keepFiles(world.readFile);
  const { document, findings: syntax } = parse(source);
  if (syntax.length > 0) return { document, findings: syntax, files, plan: undefined, isSecret: () => false };

  const substituted = substitute(document.value, world.env);
  const checked = check(substituted);
  const findings = [...substituted.findings, ...checked.findings];

  const faulty = faultyParts(checked.findings);
  // Without a list of routes there is nothing to compile.
  const compiled = Array.isArray((checked.manifest as Partial<Manifest> | null)?.routes)
    ? compile(checked.manifest, {
        hash: sha256(source.text),
        readFile,
        isSecret: substituted.isSecret,
        previous,
        faulty,
      })
    : undefined;
  const refused = (compiled?.findings ?? []).map((finding) => withoutSecret(finding, substituted.holdsSecret));
  const all = firstAtEachPlace([...findings, ...refused]);
  const plan = hasErrors(all) ? undefined : compiled?.plan;
  const { isSecret } = substituted;
  if (plan === undefined) return { document, findings: all, files, plan, isSecret };
  return { document, manifest: checked.manifest, findings: all, files, plan, isSecret };
}

/** The parts of the manifest that the schema has refused, as `compile` names them. */
function faultyParts(findings: readonly Finding[]): Set<string> {
  const faulty = new Set<string>();
  for (const { where } of findings) {
    const [key, inside] = 'path' in where ? where.path : [];
    const isWhole = inside === undefined || !DIVISIBLE.includes(String(key));
    faulty.add(isWhole ? String(key ?? '') : `${key}/${inside}`);
    if (!KEYS.has(String(key))) faulty.add('');
  }
  return faulty;
}

const DIVISIBLE = ['upstreams', 'routes', 'schemas'];
const KEYS = new Set(['version', 'listen', 'admin', 'server', 'auth', 'cors', 'lint', 'log', 'tracing', ...DIVISIBLE]);

/** What the compiler says may quote the value: what came from the environment is never printed, not even in part. */
function withoutSecret(finding: Finding, holdsSecret: (path: Path) => boolean): Finding {
  const { where, related, rule } = finding;
  const places = ['path' in where ? where.path : [], ...(related === undefined ? [] : [related.path])];
  if (!places.some(holdsSecret)) return finding;
  const message = `what the environment gave here is refused (${rule}); correct the variable, or write the value itself to read why`;
  return { ...finding, message };
}

/** A later stage adds nothing about a value that an earlier one has refused. */
function firstAtEachPlace(findings: readonly Finding[]): Finding[] {
  const stages = new Map<string, string>();
  return findings.filter((finding) => {
    const place = JSON.stringify(finding.where);
    const stage = stages.get(place) ?? finding.rule;
    stages.set(place, stage);
    return stage === finding.rule;
  });
}

import { findBrokenInvariants } from './invariants/prove.ts';
import { type Dependencies, trackDependencies } from './manifest/dependencies.ts';
import type { Document } from './manifest/document.ts';
import { parseDocuments } from './manifest/include.ts';
import type { Manifest } from './manifest/manifest.generated.ts';
import { type CheckedManifest, checkManifest, readManifest } from './manifest/read-manifest.ts';
import type { Environment, Source } from './manifest/source.ts';
import { type CompileOptions, compilePlan } from './plan/compile.ts';
import type { Plan } from './plan/plan.ts';
import { runToEnd, type SlicedWork } from './plan/sliced-work.ts';
import type { Finding } from './problem/finding.ts';
import { hasErrors, type Problem, referencedSources, toProblems } from './problem/problem.ts';
import { createSecrets, type Secrets } from './problem/redaction.ts';

/** Everything that a plan is compiled from, as plain values that a thread can receive. */
export interface CompileInput {
  readonly checked: CheckedManifest;
  /** The texts of the files that the manifest names, by the paths as the manifest has them. */
  readonly texts: ReadonlyMap<string, string>;
}

/** A manifest without errors, and the plan that was compiled from it. */
export interface PlannedManifest extends LoadedTexts {
  readonly manifest: Manifest;
  readonly plan: Plan;
  readonly compileInput: CompileInput;
}

/** A manifest with errors. It has no plan. */
export interface RejectedManifest extends LoadedTexts {
  readonly plan: undefined;
}

export type LoadResult = PlannedManifest | RejectedManifest;

interface LoadedTexts extends Dependencies {
  readonly document: Document;
  /** The text of the manifest, then those of the files that it includes, then those of the schema files with problems. */
  readonly sources: readonly Source[];
  readonly secrets: Secrets;
  readonly findings: readonly Finding[];
  /** The findings with their positions. */
  readonly problems: readonly Problem[];
}

/**
 * Reads, checks and compiles a manifest: `readManifest`, `checkManifest`, `planManifest`. Every verb calls this function. A
 * reload runs the same three stages in a worker thread, and then compiles without checks, in slices between requests.
 *
 * @param previous the active plan, or one to compare with; unchanged parts of it are reused
 */
export function load(source: Source, environment: Environment, previous?: Plan): LoadResult {
  const tracked = trackDependencies(environment);
  const { document, sources, findings: syntax } = readManifest(source, tracked.environment);
  const checked = checkManifest({ document, findings: syntax }, tracked.environment);
  const texts = new Map<string, string>();
  const readFile = (path: string) => {
    const text = tracked.environment.readFile(path);
    texts.set(path, text);
    return text;
  };
  const { plan, findings } =
    checked === undefined ? { plan: undefined, findings: syntax } : planManifest(checked, readFile, previous);
  const { dependencies } = tracked;
  if (checked !== undefined && plan !== undefined)
    return createPlannedManifest({ compileInput: { checked, texts }, plan, findings, document, sources, dependencies });
  return {
    ...dependencies,
    document,
    sources: [...sources, ...referencedSources(findings, document.file)],
    findings,
    problems: toProblems(findings, document),
    plan: undefined,
    secrets: createSecrets(checked?.secrets ?? []),
  };
}

/**
 * Compiles a plan again from the input that another thread has compiled without errors, and whose invariants it has proven.
 *
 * @param networkVerifier see `TokensContext`
 */
export function* compileFromInput(
  { checked, texts }: CompileInput,
  previous: Plan | undefined,
  networkVerifier?: CompileOptions['networkVerifier'],
): SlicedWork<Plan> {
  const readFile = (path: string): string => {
    const text = texts.get(path);
    if (text === undefined) throw Object.assign(new Error('the file was not read before'), { code: 'ENOENT' });
    return text;
  };
  const { plan } = yield* compileChecked(checked, { readFile, previous, networkVerifier, isChecked: true });
  if (plan === undefined) throw new Error('the manifest does not compile in this thread');
  return plan;
}

/** Compiles a checked manifest, and proves its invariants, as the last stage. With errors, returns the findings of all stages and no plan. */
export function planManifest(checked: CheckedManifest, readFile: Environment['readFile'], previous?: Plan): PlanResult {
  const compiled = runToEnd(compileChecked(checked, { readFile, previous }));
  if (compiled.plan === undefined) return compiled;
  const broken = findBrokenInvariants(checked.manifest, compiled.plan);
  if (broken.length === 0) return compiled;
  const secrets = createSecrets(checked.secrets);
  return {
    plan: undefined,
    findings: [...compiled.findings, ...broken.map((finding) => secrets.redactFinding(finding))],
  };
}

interface PlanResult {
  readonly plan: Plan | undefined;
  readonly findings: readonly Finding[];
}

function* compileChecked(
  checked: CheckedManifest,
  options: Pick<CompileOptions, 'readFile' | 'previous' | 'isChecked' | 'networkVerifier'>,
): SlicedWork<PlanResult> {
  if (!hasRoutes(checked)) return { plan: undefined, findings: firstStageAtEachPath(checked.findings) };
  const secrets = createSecrets(checked.secrets);
  const { hash, invalidParts } = checked;
  const compiled = yield* compilePlan(checked.manifest, { hash, secrets, invalidParts, ...options });
  const compileFindings = compiled.findings.map((finding) => secrets.redactFinding(finding));
  const findings = firstStageAtEachPath([...checked.findings, ...compileFindings]);
  return { plan: hasErrors(findings) ? undefined : compiled.plan, findings };
}

interface PlannedParts extends Pick<PlannedManifest, 'plan' | 'sources' | 'compileInput'> {
  readonly dependencies: Dependencies;
  readonly findings?: readonly Finding[];
  /** By default the sources are parsed again when the document is first used: after a reload, positions are rarely needed. */
  readonly document?: Document;
}

export function createPlannedManifest(parts: PlannedParts): PlannedManifest {
  const { compileInput, dependencies, findings = [], plan, sources } = parts;
  const { checked } = compileInput;
  let { document } = parts;
  return {
    ...dependencies,
    sources,
    manifest: checked.manifest,
    plan,
    compileInput,
    secrets: createSecrets(checked.secrets),
    findings,
    get document() {
      document ??= parseDocuments(sources);
      return document;
    },
    problems: findings.length === 0 ? [] : toProblems(findings, document ?? parseDocuments(sources)),
  };
}

function hasRoutes({ manifest }: CheckedManifest): boolean {
  return Array.isArray((manifest as Partial<Manifest> | null)?.routes);
}

/** Keeps the findings of the first stage that rejected a value: later findings about the same value add nothing. */
function firstStageAtEachPath(findings: readonly Finding[]): Finding[] {
  const firstRules = new Map<string, string>();
  const kept: Finding[] = [];
  for (const finding of findings) {
    const { location, inFile, rule } = finding;
    const key = JSON.stringify([location, inFile?.source.path, inFile?.range]);
    if (!firstRules.has(key)) firstRules.set(key, rule);
    if (firstRules.get(key) === rule) kept.push(finding);
  }
  return kept;
}

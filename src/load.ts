import { type Dependencies, trackDependencies } from './manifest/dependencies.ts';
import type { Document } from './manifest/document.ts';
import type { Manifest } from './manifest/manifest.generated.ts';
import {
  type ReadManifestResult,
  readManifest,
  type SchemaCheckedManifest,
  sourcesOf,
} from './manifest/read-manifest.ts';
import { createSecrets, type Secrets } from './manifest/secrets.ts';
import type { Environment, Source } from './manifest/source.ts';
import { compilePlan } from './plan/compile.ts';
import type { Plan } from './plan/plan.ts';
import { runToEnd, type SlicedWork } from './plan/sliced-work.ts';
import type { Finding } from './problem/finding.ts';
import { hasErrors, type Problem, toProblems } from './problem/problem.ts';

export type LoadResult =
  | PlannedManifest
  | (Omit<StageResults<{ readonly plan: undefined }>, 'findings'> & WithProblems);

/** A plan, and what it was made of. */
export type PlannedManifest = Omit<StageResults<{ readonly manifest: Manifest; readonly plan: Plan }>, 'findings'> &
  WithProblems;

interface WithProblems {
  readonly problems: readonly Problem[];
}

/**
 * Text to plan: parse, check, compile. All or nothing: with one error there is no plan. Every verb calls this one function;
 * the reload takes the same stages, the first of them in another thread and the last one in slices.
 *
 * @param previous the plan in force; parts of it whose definition did not change are taken over
 */
export function load(source: Source, world: Environment, previous?: Plan): LoadResult {
  const { findings, ...reading } = loadWithFindings(source, world, previous);
  return { ...reading, problems: toProblems(findings, reading.document) };
}

/** What the stages make of a text, for those who look at more than the plan. */
export type LoadResultWithFindings =
  | StageResults<{ readonly manifest: Manifest; readonly plan: Plan }>
  | StageResults<{ readonly plan: undefined }>;

type StageResults<Made> = Made &
  Dependencies & {
    readonly document: Document;
    /** The texts that it was read from, the manifest's own first. */
    readonly sources: readonly Source[];
    readonly findings: readonly Finding[];
    readonly secrets: Secrets;
  };

/** The stages of `load`, with what each of them made. */
export function loadWithFindings(source: Source, world: Environment, previous?: Plan): LoadResultWithFindings {
  const { dependencies, world: kept } = trackDependencies(world);
  const written = readManifest(source, kept);
  const { document, checked } = written;
  const { findings, plan } = runToEnd(planManifest(written, kept.readFile, previous));
  const secrets = createSecrets(checked?.secrets ?? []);
  const reading = { document, sources: sourcesOf(document), findings, ...dependencies, secrets };
  return plan === undefined || checked === undefined
    ? { ...reading, plan: undefined }
    : { ...reading, manifest: checked.manifest, plan };
}

/** Manifest to plan, step by step; what the stage before has found is told as well. */
export function* planManifest(
  { checked, findings: found }: Pick<ReadManifestResult, 'checked' | 'findings'>,
  readFile: Environment['readFile'],
  previous: Plan | undefined,
): SlicedWork<{ readonly plan: Plan | undefined; readonly findings: readonly Finding[] }> {
  // Without a list of routes there is nothing to compile.
  if (checked === undefined || !hasRoutes(checked)) return { plan: undefined, findings: firstStageAtEachPath(found) };
  const secrets = createSecrets(checked.secrets);
  const { hash, invalidParts } = checked;
  const compiled = yield* compilePlan(checked.manifest, { hash, readFile, secrets, previous, invalidParts });
  const refused = compiled.findings.map((finding) => redactSecret(finding, secrets));
  const findings = firstStageAtEachPath([...found, ...refused]);
  return { plan: hasErrors(findings) ? undefined : compiled.plan, findings };
}

function hasRoutes({ manifest }: SchemaCheckedManifest): boolean {
  return Array.isArray((manifest as Partial<Manifest> | null)?.routes);
}

/** The compiler may quote the value: a value from the environment is never printed, not even in part. */
function redactSecret(finding: Finding, { hasSecretWithin }: Secrets): Finding {
  const { location, related, rule } = finding;
  const places = ['path' in location ? location.path : [], ...(related === undefined ? [] : [related.path])];
  if (!places.some(hasSecretWithin)) return finding;
  const message = `the value from the environment is refused (${rule}); correct the variable, or write the value itself to read why`;
  const { fix: _fix, witness: _witness, ...rest } = finding;
  return { ...rest, message };
}

/** A later stage adds nothing about a value that an earlier one has refused. */
function firstStageAtEachPath(findings: readonly Finding[]): Finding[] {
  const stages = new Map<string, string>();
  return findings.filter((finding) => {
    const place = JSON.stringify(finding.location);
    const stage = stages.get(place) ?? finding.rule;
    stages.set(place, stage);
    return stage === finding.rule;
  });
}

import type { Document } from './manifest/document.ts';
import { keepOutside, type Outside } from './manifest/files.ts';
import type { Manifest } from './manifest/manifest.generated.ts';
import { type Form, readManifest, sourcesOf, type Written } from './manifest/read-manifest.ts';
import { type Secrets, secretsAt } from './manifest/secrets.ts';
import type { Source, World } from './manifest/source.ts';
import { compiling } from './plan/compile.ts';
import type { Plan } from './plan/plan.ts';
import { finish, type Steps } from './plan/steps.ts';
import type { Finding } from './problem/finding.ts';
import { hasErrors, type Problem, toProblems } from './problem/problem.ts';

export type Loaded = Planned | (Omit<ReadingOf<{ readonly plan: undefined }>, 'findings'> & Told);

/** A plan, and what it was made of. */
export type Planned = Omit<ReadingOf<{ readonly manifest: Manifest; readonly plan: Plan }>, 'findings'> & Told;

interface Told {
  readonly problems: readonly Problem[];
}

/**
 * Text to plan: parse, check, compile. All or nothing: with one error there is no plan. Every verb calls this one function;
 * the reload takes the same stages, the first of them in another thread and the last one in slices.
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

type ReadingOf<Made> = Made &
  Outside & {
    readonly document: Document;
    /** The texts that it was read from, the manifest's own first. */
    readonly sources: readonly Source[];
    readonly findings: readonly Finding[];
    readonly secrets: Secrets;
  };

/** The stages of `load`, with what each of them made. */
export function read(source: Source, world: World, previous?: Plan): Reading {
  const { outside, world: kept } = keepOutside(world);
  const written = readManifest(source, kept);
  const { document, form } = written;
  const { findings, plan } = finish(planning(written, kept.readFile, previous));
  const secrets = secretsAt(form?.secrets ?? []);
  const reading = { document, sources: sourcesOf(document), findings, ...outside, secrets };
  return plan === undefined || form === undefined
    ? { ...reading, plan: undefined }
    : { ...reading, manifest: form.manifest, plan };
}

/** Manifest to plan, step by step; what the stage before has found is told as well. */
export function* planning(
  { form, findings: found }: Pick<Written, 'form' | 'findings'>,
  readFile: World['readFile'],
  previous: Plan | undefined,
): Steps<{ readonly plan: Plan | undefined; readonly findings: readonly Finding[] }> {
  // Without a list of routes there is nothing to compile.
  if (form === undefined || !hasRoutes(form)) return { plan: undefined, findings: firstAtEachPlace(found) };
  const secrets = secretsAt(form.secrets);
  const { hash, faulty } = form;
  const compiled = yield* compiling(form.manifest, { hash, readFile, secrets, previous, faulty });
  const refused = compiled.findings.map((finding) => withoutSecret(finding, secrets));
  const findings = firstAtEachPlace([...found, ...refused]);
  return { plan: hasErrors(findings) ? undefined : compiled.plan, findings };
}

function hasRoutes({ manifest }: Form): boolean {
  return Array.isArray((manifest as Partial<Manifest> | null)?.routes);
}

/** The compiler may quote the value: a value from the environment is never printed, not even in part. */
function withoutSecret(finding: Finding, { holdsSecret }: Secrets): Finding {
  const { where, related, rule } = finding;
  const places = ['path' in where ? where.path : [], ...(related === undefined ? [] : [related.path])];
  if (!places.some(holdsSecret)) return finding;
  const message = `the value from the environment is refused (${rule}); correct the variable, or write the value itself to read why`;
  const { fix: _fix, witness: _witness, ...rest } = finding;
  return { ...rest, message };
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

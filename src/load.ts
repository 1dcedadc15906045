import { createHash } from 'node:crypto';
import { check } from './manifest/check.ts';
import { parse } from './manifest/document.ts';
import type { Source, World } from './manifest/source.ts';
import { substitute } from './manifest/substitute.ts';
import { compile } from './plan/compile.ts';
import type { Plan } from './plan/plan.ts';
import type { Finding } from './problem/finding.ts';
import { hasErrors, type Problem, toProblems } from './problem/problem.ts';

export type Loaded =
  | { readonly plan: Plan; readonly problems: readonly Problem[] }
  | { readonly plan: undefined; readonly problems: readonly Problem[] };

/**
 * Text to plan: parse, check, compile. All or nothing: with one error there is no plan. Every verb and the
 * reload call this one function.
 *
 * @param previous the plan in force; parts of it whose definition did not change are taken over
 */
export function load(source: Source, world: World, previous?: Plan): Loaded {
  const { document, findings: syntax } = parse(source);
  if (syntax.length > 0) return { plan: undefined, problems: toProblems(syntax, document) };

  const substituted = substitute(document.value, world.env);
  const checked = check(substituted);
  const findings = [...substituted.findings, ...checked.findings];

  const faulty = faultyRoutes(checked.findings);
  const hash = createHash('sha256').update(source.text).digest('hex');
  const compiled = faulty && compile(checked.manifest, { hash, readFile: world.readFile, previous, faulty });
  const problems = toProblems(firstAtEachPlace([...findings, ...(compiled?.findings ?? [])]), document);
  return { plan: hasErrors(problems) ? undefined : compiled?.plan, problems } as Loaded;
}

/** The routes that cannot be compiled, or `undefined` when it is not the routes alone that are faulty. */
function faultyRoutes(findings: readonly Finding[]): Set<number> | undefined {
  const faulty = new Set<number>();
  for (const { where } of findings) {
    const [key, index] = 'path' in where ? where.path : [];
    if (key !== 'routes' || typeof index !== 'number') return undefined;
    faulty.add(index);
  }
  return faulty;
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

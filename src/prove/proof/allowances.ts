import { HTTP_METHODS } from '../../engine/http1/http-methods.ts';
import type { Invariant } from '../../engine/invariants/compile-invariants.ts';
import { meets } from '../../engine/invariants/prove.ts';
import { parse } from '../../engine/manifest/document.ts';
import type { Environment, Source } from '../../engine/manifest/source.ts';
import { intersect, literalPattern } from '../../engine/routing/pattern.ts';
import { isMap } from '../../engine/schema/schema-walk.ts';
import type { DiffSide } from '../diff/side.ts';
import { compileFurther, describeFinding, QuestionError } from '../question.ts';
import type { Divider, Region } from './regions.ts';

/** An access that is meant: requests that the new manifest may let through. */
export interface Allowance {
  readonly why: string;
  /** The line in its file. */
  readonly line: number;
  readonly when: Invariant['when'];
}

const FORM = 'write a list of { when: { path: /export/** }, why: "the reason" }';

/** Reads a list of `when` and `why`. Throws a `QuestionError` that says what is wrong. */
export function readAllowances(source: Source, next: DiffSide, env: Environment['env']): Allowance[] {
  const { document, findings: syntax } = parse(source);
  const entries = document.value;
  const [first] = syntax;
  if (first !== undefined) throw new QuestionError(first.message);
  if (!Array.isArray(entries)) throw new QuestionError(FORM);
  for (const [index, entry] of entries.entries()) {
    const keys = isMap(entry) ? Object.keys(entry).sort().join() : '';
    if (keys !== 'when,why') throw new QuestionError(`entry ${index + 1}: ${FORM}`);
  }
  const rules = entries.map((entry, index) => ({
    id: `allowance-${index}`,
    ...(entry as Record<string, never>),
    require: { access: 'public' },
  }));
  const { invariants, findings } = compileFurther(next, rules, env);
  const [finding] = findings;
  if (finding !== undefined) {
    const index = 'path' in finding.location ? Number(finding.location.path[1]) : 0;
    throw new QuestionError(`entry ${index + 1}: ${describeFinding(finding)}`);
  }
  return invariants.map(({ when, why = '' }, index) => ({
    when,
    why,
    line: document.locate({ path: [index], at: 'value' }).line,
  }));
}

/** Returns the patterns and methods by which an allowance divides requests. */
export function dividerOf({ when: { patterns = [], methods = HTTP_METHODS } }: Allowance): Divider {
  return { patterns, methods };
}

/** True if an allowance is about all requests of a region, or about one request. The path counts as it is sent. */
export function covers(
  { when }: Allowance,
  { method, path, route: { route } }: Pick<Region, 'method' | 'path' | 'route'>,
): boolean {
  const isAbout = when.methods?.includes(method) ?? true;
  const sent = literalPattern(path);
  return (
    isAbout && meets(route, when) && (when.patterns?.some((pattern) => intersect(pattern, sent) !== undefined) ?? true)
  );
}

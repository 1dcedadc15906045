import { existsSync, readFileSync } from 'node:fs';
import { type LintOptions, lint } from '../../src/check/lint/lint.ts';
import type { Rule } from '../../src/check/lint/rule.ts';
import { load } from '../../src/engine/load.ts';
import type { Problem } from '../../src/engine/problem/problem.ts';
import { formatProblems } from '../../src/report/text.ts';

export const CASES = new URL('cases/', import.meta.url);

type Env = Readonly<Record<string, string>>;

export function readText(text: string, env: Env = {}, path = 'gateway.yaml') {
  const readFile = (file: string) => readFileSync(new URL(file, CASES), 'utf8');
  return load({ path, text }, { env, readFile });
}

export function lintText(text: string, options: LintOptions = {}, env: Env = {}, path?: string): Problem[] {
  return lint(readText(text, env, path), options);
}

export interface Case {
  readonly text: string;
  readonly problems: readonly Problem[];
  readonly printed: string;
}

/** Lints a case of a rule with the smallest preset that contains the rule. */
export function lintCase({ id, preset }: Rule, name: 'bad.yaml' | 'good.yaml'): Case {
  const text = readFileSync(new URL(`${id}/${name}`, CASES), 'utf8');
  const problems = lintText(text, { preset: preset === 'minimal' ? 'recommended' : preset }, envOf(id), name);
  return { text, problems, printed: formatProblems(problems, text, false) };
}

/** Reads the environment of a case from lines of `NAME=value`. */
function envOf(id: string): Env {
  const file = new URL(`${id}/env`, CASES);
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return Object.fromEntries(lines.map((line) => line.split('=', 2)));
}

export function formatProblem({ rule, range, message }: Problem): string {
  return `${range.line}:${range.column} ${message} [${rule}]`;
}

import { styleText } from 'node:util';
import { formatMethods } from '../engine/http1/http-methods.ts';
import type { Source } from '../engine/manifest/source.ts';
import type { PlanChanges } from '../engine/plan/changes.ts';
import type { Plan } from '../engine/plan/plan.ts';
import type { Route } from '../engine/plan/route-definition.ts';
import type { Range, Severity } from '../engine/problem/finding.ts';
import { printable } from '../engine/problem/printable.ts';
import type { Problem } from '../engine/problem/problem.ts';
import type { Auth } from '../engine/tokens/auth.ts';
import { createCodeFramer } from './code-frame.ts';
import { DEFAULT_MAX_PROBLEMS, groupProblems } from './problem-groups.ts';

export const STYLES = { error: 'red', warning: 'yellow', info: 'cyan' } as const satisfies Record<Severity, Style>;

type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'cyan' | 'green';

export function paint(text: string, style: Style, colour: boolean): string {
  return colour ? styleText(style, text, { validateStream: false }) : text;
}

/**
 * Formats problems for a person, in reading order. Each one begins with `file:line:column`. Equal problems are grouped. Of very
 * many, shows the most severe ones, and says how many more there are.
 *
 * @param max the largest number of groups
 * @param texts the text of the file that has the problems, or the sources of all files; code frames quote from it
 */
export function formatProblems(
  problems: readonly Problem[],
  texts: string | readonly Source[],
  colour: boolean,
  max = DEFAULT_MAX_PROBLEMS,
): string {
  const frameOf = createCodeFramer(problems, texts);
  const { groups, omitted } = groupProblems(problems, max);
  const parts = groups.map(({ first, others }) => {
    const text = `${formatProblem(first, frameOf(first), colour)}\n`;
    return others === '' ? text : `${text}  ${paint(others, 'dim', colour)}\n`;
  });
  return [...parts, ...(omitted === '' ? [] : [`${omitted}\n`])].join('\n');
}

function formatProblem(problem: Problem, frame: string, colour: boolean): string {
  const { range, severity, message, rule, related } = problem;
  const file = printable(problem.file);
  const location = paint(`${file}:${formatPosition(range)}`, 'bold', colour);
  const lines = [
    `${location} ${paint(severity, STYLES[severity], colour)} ${printable(message)} ${paint(`[${rule}]`, 'dim', colour)}`,
    indent(frame),
  ];
  if (related !== undefined)
    lines.push(
      `  ${printable(related.message)}: ${printable(related.file ?? problem.file)}:${formatPosition(related.range)}`,
    );
  return lines.join('\n');
}

function formatPosition({ line, column }: Range): string {
  return `${line}:${column}`;
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '  ');
}

/**
 * Formats the changes of a reload in one line.
 *
 * @param files the files that changed
 */
export function formatChanges(changes: PlanChanges, files: readonly string[]): string {
  const parts = [
    ['added', changes.added],
    ['removed', changes.removed],
    ['changed', changes.changed],
    ['now public', changes.nowPublic],
    ['now protected', changes.nowProtected],
    ['upstreams', changes.upstreams],
    ['upstreams removed', changes.upstreamsRemoved],
    ['rate limits', changes.rateLimits],
    ['rate limits removed', changes.rateLimitsRemoved],
    ['server', changes.server],
    ['rules', changes.rules],
    ['needs a restart', changes.needsRestart],
  ] as const;
  const changed = parts.filter(([, ids]) => ids.length > 0).map(([kind, ids]) => `${kind}: ${joinNames(ids)}`);
  const unchanged = `routes and upstreams are unchanged; saved: ${joinNames(files)}`;
  return `the saved manifest is active; ${changed.join('; ') || unchanged}`;
}

const MAX_NAMES = 10;

function joinNames(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return names.slice(0, MAX_NAMES).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

export function pluralize(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Formats the compiled routes as a table, in the manifest's order. */
export function formatRoutes({ routes, auth }: Pick<Plan, 'routes' | 'auth'>, colour: boolean): string {
  const rows = routes.map((route) => [
    formatMethods(route.methods),
    route.path,
    route.access,
    route.upstream.id,
    rulesOf(route, auth),
    route.id,
  ]);
  const table = [['METHODS', 'PATH', 'ACCESS', 'UPSTREAM', 'RULES', 'ID'], ...rows];
  const widths = table.reduce<number[]>(
    (widest, row) => row.map((cell, index) => Math.max(cell.length, widest[index] ?? 0)),
    [],
  );
  const lines = table.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${[paint(lines[0] ?? '', 'bold', colour), ...lines.slice(1)].join('\n')}\n`;
}

function rulesOf(route: Route, auth: Auth | undefined): string {
  const rules = [
    route.auth !== auth && route.auth && `roles=${route.auth.role.redactedRoles.join('|')}`,
    route.login && 'login',
    route.body?.validate && 'schema',
    route.body && !route.body.validate && 'maxBytes',
    route.websocket && 'websocket',
  ].filter(Boolean);
  return rules.join(',') || '-';
}

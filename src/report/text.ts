import { styleText } from 'node:util';
import type { Source } from '../engine/manifest/source.ts';
import type { Severity } from '../engine/problem/finding.ts';
import { type Problem, printable } from '../engine/problem/problem.ts';
import { createCodeFramer } from './code-frame.ts';
import { DEFAULT_MAX_PROBLEMS, groupProblems } from './problem-groups.ts';
import { type Facts, placeOf, type TextRow } from './report.ts';

const STYLES = { error: 'red', warning: 'yellow', info: 'cyan' } as const satisfies Record<Severity, Style>;

type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'cyan' | 'green';

export function paint(text: string, style: Style, colour: boolean): string {
  return colour ? styleText(style, text, { validateStream: false }) : text;
}

export function pluralize(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Formats the facts of a report, then its rows with theirs, and texts about further ones. */
export function formatText(facts: Facts, rows: readonly TextRow[], more: readonly string[], colour: boolean): string {
  const width = Math.max(...facts.map(([name]) => name.length)) + 1;
  const parts = [formatFacts(facts, width, colour), ...rows.map((row) => formatRow(row, colour, width))];
  return [...parts, ...more.map((text) => `${text}\n`)].join('\n');
}

/** Formats a row, with its facts on lines of their own. */
export function formatRow({ facts = [], ...row }: TextRow, colour: boolean, width = 0): string {
  return `${headline(row, colour)}\n${indent(formatFacts(facts, width, colour))}`;
}

/** Formats a row in one line without its end: the place, the severity if it has one, the message and the rule. */
export function headline({ file, range, severity, message, rule }: TextRow, colour: boolean): string {
  const level = (text: string) => (severity === undefined ? '' : `${paint(text, STYLES[severity], colour)} `);
  if (file === undefined || range === undefined) return level(rule) + printable(message);
  const place = paint(printable(placeOf({ file, range })), 'bold', colour);
  return `${place} ${level(severity ?? '')}${printable(message)} ${paint(`[${printable(rule)}]`, 'dim', colour)}`;
}

function formatFacts(facts: Facts, width: number, colour: boolean): string {
  const nameOf = (name: string) => (name === '' ? '' : `${paint(name.padEnd(width), 'dim', colour)} `);
  return facts.map(([name, text]) => `${nameOf(name)}${printable(text)}\n`).join('');
}

export function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}

/** Formats problems for a person, at most `max` groups of equal ones, the most severe if there are more. Code frames quote `texts`. */
export function formatProblems(
  problems: readonly Problem[],
  texts: string | readonly Source[],
  colour: boolean,
  max = DEFAULT_MAX_PROBLEMS,
): string {
  const frameOf = createCodeFramer(problems, texts);
  const { groups, omitted } = groupProblems(problems, max);
  const parts = groups.map(({ first, others }) => {
    const { file, related } = first;
    const lines = [headline(first, colour), indent(frameOf(first))];
    if (related !== undefined) lines.push(`  ${printable(`${related.message}: ${placeOf({ file, ...related })}`)}`);
    if (others !== '') lines.push(`  ${paint(others, 'dim', colour)}`);
    return `${lines.join('\n')}\n`;
  });
  return [...parts, ...(omitted === '' ? [] : [`${omitted}\n`])].join('\n');
}

/** Formats one line for each problem, or group of equal ones, below the names of their files. */
export function formatStylish(problems: readonly Problem[], files: readonly string[], colour: boolean, max: number) {
  const { groups, omitted } = groupProblems(problems, max);
  const parts = files.map((path) => {
    const inFile = groups.filter(({ first }) => first.file === path);
    const positions = inFile.map(({ first: { range } }) => `${range.line}:${range.column}`);
    const width = positions.reduce((widest, { length }) => Math.max(widest, length), 0);
    const lines = inFile.map(({ first: { severity, message, rule }, others }, index) => {
      const position = paint((positions[index] ?? '').padEnd(width), 'dim', colour);
      const level = paint(severity.padEnd('warning'.length), STYLES[severity], colour);
      const more = others === '' ? '' : `  ${paint(`(${others})`, 'dim', colour)}`;
      return `  ${position}  ${level}  ${printable(message)}  ${paint(rule, 'dim', colour)}${more}\n`;
    });
    return lines.length === 0 ? '' : `${paint(printable(path), 'bold', colour)}\n${lines.join('')}`;
  });
  return [...parts, omitted === '' ? '' : `${omitted}\n`].filter((part) => part !== '').join('\n');
}

import { printable } from '../../../engine/problem/printable.ts';
import { groupProblems } from '../../../report/problem-groups.ts';
import { paint, STYLES } from '../../../report/text.ts';
import type { Reporter } from './lint-report.ts';

/** Formats one line for each problem, grouped by file. */
export const stylish: Reporter = ({ sources, problems, maxProblems }, colour) => {
  const { groups, omitted } = groupProblems(problems, maxProblems);
  const parts = sources.map(({ path }) => {
    const inFile = groups.filter(({ first }) => first.file === path);
    const locations = inFile.map(({ first: { range } }) => `${range.line}:${range.column}`);
    const width = locations.reduce((widest, { length }) => Math.max(widest, length), 0);
    const lines = inFile.map(({ first: { severity, message, rule }, others }, index) => {
      const location = paint((locations[index] ?? '').padEnd(width), 'dim', colour);
      const level = paint(severity.padEnd('warning'.length), STYLES[severity], colour);
      const more = others === '' ? '' : `  ${paint(`(${others})`, 'dim', colour)}`;
      return `  ${location}  ${level}  ${printable(message)}  ${paint(rule, 'dim', colour)}${more}\n`;
    });
    return lines.length === 0 ? '' : `${paint(printable(path), 'bold', colour)}\n${lines.join('')}`;
  });
  return [...parts, omitted === '' ? '' : `${omitted}\n`].filter((part) => part !== '').join('\n');
};

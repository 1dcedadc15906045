import { printable } from '../../../problem/printable.ts';
import { paint, STYLES } from '../../format.ts';
import type { Reporter } from './lint-report.ts';

/** Formats one line for each problem, grouped by file. */
export const stylish: Reporter = ({ sources, problems }, colour) =>
  sources
    .map(({ path }) => {
      const inFile = problems.filter(({ file }) => file === path);
      const locations = inFile.map(({ range }) => `${range.line}:${range.column}`);
      const width = locations.reduce((widest, { length }) => Math.max(widest, length), 0);
      const lines = inFile.map(({ severity, message, rule }, index) => {
        const location = paint((locations[index] ?? '').padEnd(width), 'dim', colour);
        const level = paint(severity.padEnd('warning'.length), STYLES[severity], colour);
        return `  ${location}  ${level}  ${printable(message)}  ${paint(rule, 'dim', colour)}\n`;
      });
      return lines.length === 0 ? '' : `${paint(printable(path), 'bold', colour)}\n${lines.join('')}`;
    })
    .filter((part) => part !== '')
    .join('\n');

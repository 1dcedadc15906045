import { printable } from '../../../problem/printable.ts';
import { paint, STYLES } from '../../format.ts';
import type { Reporter } from './lint-report.ts';

/** One line for each problem, below the name of its file. */
export const stylish: Reporter = ({ sources, problems }, colour) =>
  sources
    .map(({ path }) => {
      const found = problems.filter(({ file }) => file === path);
      const places = found.map(({ range }) => `${range.line}:${range.column}`);
      const width = Math.max(0, ...places.map(({ length }) => length));
      const lines = found.map(({ severity, message, rule }, index) => {
        const place = paint((places[index] ?? '').padEnd(width), 'dim', colour);
        const level = paint(severity.padEnd('warning'.length), STYLES[severity], colour);
        return `  ${place}  ${level}  ${printable(message)}  ${paint(rule, 'dim', colour)}\n`;
      });
      return lines.length === 0 ? '' : `${paint(printable(path), 'bold', colour)}\n${lines.join('')}`;
    })
    .filter((part) => part !== '')
    .join('\n');

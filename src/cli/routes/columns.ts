import { paint } from '../../report/text.ts';

/** Formats a table whose first row has the names of the columns. */
export function formatColumns(table: readonly (readonly string[])[], colour: boolean): string {
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

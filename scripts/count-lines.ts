/**
 * Counts the lines of the source by wing: TypeScript, and the script, styles and markup of the admin page. Generated files and
 * `examples/platform` are counted apart. `npm test` compares the counts with `scripts/line-budget.json`.
 *
 *     npm run lines
 */
import { globSync, readFileSync } from 'node:fs';

const ROOT = new URL('../', import.meta.url);

/** The budget of a wing, and that of all wings together: the row "src". */
export interface CountedWing {
  readonly name: string;
  readonly files: number;
  readonly lines: number;
  readonly budget: number | undefined;
}

/** Returns the wings of src with their budgets, the largest first, then `src` as a whole, then what has no budget. */
export function countLines(): CountedWing[] {
  const budgets: Record<string, number> = JSON.parse(
    readFileSync(new URL('line-budget.json', import.meta.url), 'utf8'),
  );
  const sources = globSync('src/**/*.{ts,js,css,html}', { cwd: ROOT });
  const written = sources.filter((file) => !file.endsWith('.generated.ts'));
  const wings = Object.entries(Object.groupBy(written, wingOf)).map(([name, files = []]) => count(name, files));
  return [
    ...wings.sort((first, second) => second.lines - first.lines),
    count('src', written),
    count(
      'generated',
      sources.filter((file) => file.endsWith('.generated.ts')),
    ),
    count('examples/platform', globSync('examples/platform/**/*.ts', { cwd: ROOT })),
  ];

  function count(name: string, files: readonly string[]): CountedWing {
    const lines = files.reduce((sum, file) => sum + linesOf(file), 0);
    return { name, files: files.length, lines, budget: budgets[name] };
  }
}

function wingOf(file: string): string {
  return file.split(/[\\/]/)[1] ?? '';
}

function linesOf(file: string): number {
  return readFileSync(new URL(file, ROOT), 'utf8').split('\n').length - 1;
}

if (import.meta.main) {
  // A reader such as `head` closes the pipe early.
  process.stdout.on('error', () => process.exit());
  const rows = [['wing', 'files', 'lines', 'budget'], ...countLines().map((wing) => cells(wing))];
  for (const [name = '', ...numbers] of rows)
    process.stdout.write(`${name.padEnd(18)}${numbers.map((text) => text.padStart(8)).join('')}\n`);
}

function cells({ name, files, lines, budget }: CountedWing): string[] {
  return [name, ...[files, lines].map((number) => number.toLocaleString('en')), budget?.toLocaleString('en') ?? ''];
}

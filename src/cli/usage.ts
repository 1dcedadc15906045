import type { Options, Verb } from './terminal.ts';

/** What `VERB --help` prints. */
export function formatUsage({ usage, options = {}, examples }: Verb, summary: string): string {
  const parts = [`${usage}\n  ${summary}\n`];
  if (Object.keys(options).length > 0) parts.push(`Options:\n${formatOptions(options)}`);
  parts.push(`Examples:\n${examples.map((example) => `  ${example}\n`).join('')}`);
  return parts.join('\n');
}

function formatOptions(options: Options): string {
  const rows = Object.entries(options).map(([name, { short, valueName, summary }]) => ({
    names: `${short === undefined ? '    ' : `-${short}, `}--${name}${valueName === undefined ? '' : ` ${valueName}`}`,
    summary,
  }));
  const width = Math.max(...rows.map(({ names }) => names.length));
  return rows.map(({ names, summary }) => `  ${names.padEnd(width)}  ${summary}\n`).join('');
}

import type { Option, Options, Verb } from './terminal.ts';

const HELP: Options = { help: { type: 'boolean', short: 'h', summary: 'print this help' } };

/** Returns the text that `VERB --help` prints. */
export function formatUsage({ usage, options, examples }: Verb, summary: string): string {
  return [
    `Usage: ${usage}\n`,
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}\n`,
    `Options:\n${formatOptions({ ...options, ...HELP })}`,
    `Examples:\n${examples.map((example) => `  ${example}\n`).join('')}`,
  ].join('\n');
}

function formatOptions(options: Options): string {
  const rows = Object.entries(options).map(([name, option]) => ({
    flags: formatFlags(name, option),
    summary: option.summary,
  }));
  const width = Math.max(...rows.map(({ flags }) => flags.length));
  return rows.map(({ flags, summary }) => `  ${flags.padEnd(width)}  ${summary}\n`).join('');
}

function formatFlags(name: string, { short, valueName }: Option): string {
  return `${short === undefined ? '    ' : `-${short}, `}--${name}${valueName === undefined ? '' : ` ${valueName}`}`;
}

import { printable } from '../engine/problem/printable.ts';

/** Escapes text of a manifest or a request so that it cannot add cells or markup to a table. */
export function tableCell(text: string): string {
  return onOneLine(text).replaceAll(/[\\`*_{}[\]<>()#+!|~@]/g, '\\$&');
}

/** Formats text as code in a table, whatever characters it has. */
export function inlineCode(text: string): string {
  const line = onOneLine(text);
  const ticks = '`'.repeat(1 + Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length)));
  const padding = /^`|`$/.test(line) ? ' ' : '';
  return `${ticks}${padding}${line.replaceAll('|', '\\|')}${padding}${ticks}`;
}

function onOneLine(text: string): string {
  return printable(text.replaceAll(/\s+/g, ' '));
}

import { readFileSync } from 'node:fs';
import type { Rule } from '../check/lint/rule.ts';
import { RULES } from '../check/lint/rule-table.ts';
import { suggestion } from '../engine/problem/did-you-mean.ts';
import { CommandError, UsageError } from './terminal.ts';

const PAGES = new URL('../../docs/rules/', import.meta.url);

/** Returns the documentation of a rule, and how to disable it. */
export function explainRule(id: string): string {
  const rule = RULES.find((candidate) => candidate.id === id);
  if (rule === undefined) {
    const ids = RULES.map((candidate) => candidate.id);
    throw new UsageError(`unknown rule "${id}"${suggestion(id, ids)}`);
  }
  const how =
    rule.severity === 'error'
      ? 'This is an error: the gateway does not serve the manifest until it is fixed, and the rule cannot be disabled.\n'
      : `To disable it for one line, write above that line, with the reason:\n\n    # gateway-disable-next-line ${id} -- REASON\n\nTo disable it everywhere:\n\n    lint: { rules: { ${id}: off } }\n`;
  return `${sectionOf(rule)}\n${how}`;
}

/** Returns the section that documents a rule, with indented code instead of fenced code. */
function sectionOf({ id, category }: Rule): string {
  const text = readPage(`${category}.md`);
  const start = text.indexOf(`## ${id}\n`);
  const [, section = ''] = /^## ([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(text.slice(start)) ?? [];
  let isCode = false;
  return section
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      if (line.startsWith('```')) isCode = !isCode;
      if (line.startsWith('```') || line.startsWith('<!--')) return [];
      return [isCode && line !== '' ? `    ${line}` : line];
    })
    .join('\n')
    .concat('\n');
}

function readPage(name: string): string {
  try {
    return readFileSync(new URL(name, PAGES), 'utf8');
  } catch {
    throw new CommandError(`cannot read docs/rules/${name}, which is part of the package; install the package again`);
  }
}

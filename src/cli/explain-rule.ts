import { readFileSync } from 'node:fs';
import { RULES } from '../lint/rule-table.ts';
import { suggestion } from '../problem/did-you-mean.ts';
import { CommandError, UsageError } from './terminal.ts';

const PAGE = new URL('../../docs/rules.md', import.meta.url);

/** What the page of the rules says of one of them, and how it is silenced. */
export function explainRule(id: string): string {
  const rule = RULES.find((known) => known.id === id);
  if (rule === undefined) {
    const ids = RULES.map((known) => known.id);
    throw new UsageError(`there is no rule "${id}"${suggestion(id, ids)}`);
  }
  const how =
    rule.severity === 'error'
      ? 'This is an error: the manifest is not served before it is mended, and nothing silences it.\n'
      : `To silence it at one place, write above it, with the reason:\n\n    # gateway-disable-next-line ${id} -- REASON\n\nTo silence it everywhere:\n\n    lint: { rules: { ${id}: off } }\n`;
  return `${sectionOf(id)}\n${how}`;
}

/** From a rule's heading to the next one; code is indented in place of its fences. */
function sectionOf(id: string): string {
  const text = readPage();
  const start = text.indexOf(`### ${id}\n`);
  const [, section = ''] = /^### ([\s\S]*?)(?=^##|$(?![\s\S]))/m.exec(text.slice(start)) ?? [];
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

function readPage(): string {
  try {
    return readFileSync(PAGE, 'utf8');
  } catch {
    throw new CommandError('the page of the rules, docs/rules.md, is not beside the program; install it whole');
  }
}

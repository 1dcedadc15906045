import { readFileSync } from 'node:fs';
import { RULES } from '../lint/rule-table.ts';
import { suggestion } from '../problem/did-you-mean.ts';
import { CommandError, UsageError } from './terminal.ts';

/** The page has the same relative path from `src/cli` and from `dist/cli`. */
const PAGE = new URL('../../docs/rules.md', import.meta.url);

/** Returns a rule's section of docs/rules.md, and how to disable the rule. */
export function explainRule(id: string): string {
  const rule = RULES.find((candidate) => candidate.id === id);
  if (rule === undefined) {
    const ids = RULES.map((candidate) => candidate.id);
    throw new UsageError(`unknown rule "${id}"${suggestion(id, ids)}`);
  }
  const remedy =
    rule.severity === 'error'
      ? 'This rule is an error: the gateway does not serve the manifest until you fix it. It cannot be disabled.\n'
      : `To disable the rule for one line, write this comment above it, with your reason:\n\n    # gateway-disable-next-line ${id} -- REASON\n\nTo disable it everywhere:\n\n    lint: { rules: { ${id}: off } }\n`;
  return `${sectionOf(id)}\n${remedy}`;
}

/** Returns the text from a rule's heading to the next one. Indents code blocks and removes their fences. */
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
    throw new CommandError('docs/rules.md is missing from the installation; install the complete package');
  }
}

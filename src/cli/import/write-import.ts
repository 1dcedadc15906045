import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { formatText } from '../../check/fmt/format-text.ts';
import { printable } from '../../engine/problem/printable.ts';
import { readSource } from '../manifest-file.ts';
import { CommandError } from '../terminal.ts';
import { writeFileAtomic } from '../write-file-atomic.ts';

/** The first line of a file that `import` has written, with the hash of the rest. */
const FIRST_LINE = /^# Imported from .* by signing-gateway import\. sha256:([0-9a-f]{64})\n/;

/**
 * Writes the routes of a document to a file. Throws a `CommandError`, and writes nothing, if the file has other content that no
 * import has written, or that was edited since.
 */
export function writeImport(output: string, document: string, text: string, isForced: boolean): void {
  // A pipe or a device has no content to lose.
  if (!isForced && existsSync(output) && statSync(output).isFile()) {
    const old = withoutLayout(readSource(output).text);
    const [firstLine = '', hash] = FIRST_LINE.exec(old) ?? [];
    const rest = old.slice(firstLine.length);
    if (hashOf(rest) !== hash && rest !== withoutLayout(text))
      throw new CommandError(
        `${output} ${hash === undefined ? 'was not written by "signing-gateway import"' : 'was edited after its import'}; ` +
          `see the differences with "signing-gateway drift ${document}", or overwrite the file with --force`,
      );
  }
  const source = printable(document);
  writeFileAtomic(
    output,
    `# Imported from ${source} by signing-gateway import. sha256:${hashOf(withoutLayout(text))}\n${text}`,
  );
}

/** Returns a text as `fmt` formats it, with line feeds: Git may change the line ends. */
function withoutLayout(text: string): string {
  return formatText(text.replaceAll('\r\n', '\n'));
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

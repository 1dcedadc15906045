import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { formatText } from '../../check/fmt/format-text.ts';
import { printable } from '../../engine/problem/problem.ts';
import { importOpenApi } from '../../openapi/import/import-openapi.ts';
import type { Loss, OpenApiDocument } from '../../openapi/import/openapi-document.ts';
import { writeRoutes } from '../../openapi/import/write-routes.ts';
import { paint, pluralize } from '../../report/text.ts';
import { readSource } from '../manifest-file.ts';
import { valueOption } from '../parse-arguments.ts';
import { CommandError, defineVerb, UsageError } from '../terminal.ts';
import { writeFileAtomic } from '../write-file-atomic.ts';
import { IMPORT_OPTIONS, readDocument, readImportOptions } from './import-options.ts';

export const verb = defineVerb({
  usage: 'signing-gateway import OPENAPI [--upstream NAME] [--access protected|public] [--prefix PATH] [-o FILE]',
  options: {
    upstream: valueOption('NAME', 'the upstream of the routes (default api)'),
    ...IMPORT_OPTIONS,
    output: valueOption(
      'FILE',
      'write to this file instead of standard output, unless it was edited after its import',
      {
        short: 'o',
      },
    ),
    force: { type: 'boolean', summary: 'overwrite the file of -o even if it was edited' },
    'fail-on-loss': { type: 'boolean', summary: 'exit with 1 if a part of the document has no counterpart' },
    json: { type: 'boolean', summary: 'print the losses as JSON' },
  },
  examples: [
    'signing-gateway import openapi.yaml --upstream contacts -o routes/contacts.yaml',
    'signing-gateway import openapi.json --prefix /api --role contacts:write=admin --fail-on-loss',
  ],
  async run({ out, err, errColour }, { values, positionals }) {
    const [file, ...more] = positionals;
    if (file === undefined || more.length > 0) throw new UsageError('name one OpenAPI document');
    const { output } = values;
    const document = readDocument(file);
    const imported = importOpenApi(document, readImportOptions(values));
    const text = writeRoutes(imported);
    if (output === undefined) out(text);
    else writeImport(output, file, text, values.force === true);
    const losses = imported.losses.map((loss) => toPrintedLoss(file, document, loss));
    err(values.json ? `${JSON.stringify({ version: 1, losses }, null, 2)}\n` : formatLosses(losses, errColour));
    err(values.json ? '' : `${pluralize(imported.routes.length, 'route')} from ${printable(file)}\n`);
    return values['fail-on-loss'] && losses.length > 0 ? 1 : 0;
  },
});

function toPrintedLoss(file: string, document: OpenApiDocument, { path, effect, message }: Loss) {
  const { line, column } = document.locate(path);
  return { file, line, column, effect, message };
}

/** Formats losses, a line each, in the order of their places. */
function formatLosses(losses: readonly ReturnType<typeof toPrintedLoss>[], colour: boolean): string {
  const sorted = losses.toSorted((a, b) => a.line - b.line || a.column - b.column);
  return sorted
    .map(({ file, line, column, effect, message }) => {
      const place = paint(`${printable(file)}:${line}:${column}`, 'bold', colour);
      return `${place} ${printable(message)}${effect === 'none' ? '' : paint(` [${effect}]`, 'dim', colour)}\n`;
    })
    .join('');
}

/** The first line of a file that `import` has written, with the hash of the rest. */
const FIRST_LINE = /^# Imported from .* by signing-gateway import\. sha256:([0-9a-f]{64})\n/;

/** Writes the routes of a document to a file. Throws a `CommandError` if the file has content that no import wrote, or that was edited. */
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

import { printable } from '../../engine/problem/printable.ts';
import { importOpenApi } from '../../openapi/import/import-openapi.ts';
import type { Loss } from '../../openapi/import/loss.ts';
import type { OpenApiDocument } from '../../openapi/import/openapi-document.ts';
import { writeRoutes } from '../../openapi/import/write-routes.ts';
import { paint, pluralize } from '../../report/text.ts';
import { parseArguments } from '../parse-arguments.ts';
import { type Options, UsageError, type Verb } from '../terminal.ts';
import { IMPORT_OPTIONS, readDocument, readImportOptions } from './import-options.ts';
import { type PrintedConflict, type WrittenImport, writeImport } from './write-import.ts';

const OPTIONS = {
  upstream: { type: 'string', valueName: 'NAME', summary: 'the upstream of the routes (default api)' },
  ...IMPORT_OPTIONS,
  output: {
    type: 'string',
    short: 'o',
    valueName: 'FILE',
    summary: 'write to this file instead of standard output; another import keeps what you edit there',
  },
  'fail-on-loss': {
    type: 'boolean',
    summary: 'exit with 1 if a part of the document has no counterpart, or contradicts an edit',
  },
  json: { type: 'boolean', summary: 'print the losses and conflicts as JSON' },
} as const satisfies Options;

export const importVerb: Verb = {
  usage: 'signing-gateway import OPENAPI [--upstream NAME] [--access protected|public] [--prefix PATH] [-o FILE]',
  options: OPTIONS,
  examples: [
    'signing-gateway import openapi.yaml --upstream contacts -o routes/contacts.yaml',
    'signing-gateway import openapi.json --prefix /api --role contacts:write=admin --fail-on-loss',
  ],
  async run({ args, out, err, errColour }) {
    const { values, positionals } = parseArguments(args, OPTIONS);
    const [file, ...more] = positionals;
    if (file === undefined || more.length > 0) throw new UsageError('name one OpenAPI document');
    const { output } = values;
    const document = readDocument(file);
    const imported = importOpenApi(document, readImportOptions(values));
    const text = writeRoutes(imported);
    if (output === undefined) out(text);
    const { conflicts, changes } = output === undefined ? NO_CHANGES : writeImport(output, text);
    const losses = imported.losses.map((loss) => ({ file, document, ...loss })).map(toPrintedLoss);
    err(
      values.json
        ? `${JSON.stringify({ version: 1, losses, conflicts }, null, 2)}\n`
        : formatNotes(losses, ({ effect }) => effect, errColour) + formatNotes(conflicts, () => 'conflict', errColour),
    );
    err(values.json ? '' : `${pluralize(imported.routes.length, 'route')} from ${printable(file)}${changes}\n`);
    return values['fail-on-loss'] && losses.length + conflicts.length > 0 ? 1 : 0;
  },
};

const NO_CHANGES: WrittenImport = { conflicts: [], changes: '' };

interface PrintedLoss extends PrintedConflict, Pick<Loss, 'effect'> {}

function toPrintedLoss(loss: Loss & { readonly file: string; readonly document: OpenApiDocument }): PrintedLoss {
  const { file, document, path, effect, message } = loss;
  const { line, column } = document.locate(path);
  return { file, line, column, effect, message };
}

/** Formats losses or conflicts, a line each, in the order of their places. */
function formatNotes<Note extends PrintedConflict>(
  notes: readonly Note[],
  kindOf: (note: Note) => string,
  colour: boolean,
): string {
  const sorted = notes.toSorted((a, b) => a.line - b.line || a.column - b.column);
  return sorted
    .map((note) => {
      const { file, line, column, message } = note;
      const kind = kindOf(note);
      const place = paint(`${printable(file)}:${line}:${column}`, 'bold', colour);
      return `${place} ${printable(message)}${kind === 'none' ? '' : paint(` [${kind}]`, 'dim', colour)}\n`;
    })
    .join('');
}

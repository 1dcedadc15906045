import { existsSync } from 'node:fs';
import { importOpenApi } from '../../openapi-import/import-openapi.ts';
import type { Loss } from '../../openapi-import/loss.ts';
import { type OpenApiDocument, OpenApiError, readOpenApi } from '../../openapi-import/openapi-document.ts';
import { writeRoutes } from '../../openapi-import/write-routes.ts';
import { printable } from '../../problem/printable.ts';
import { paint, pluralize } from '../format.ts';
import { readSource } from '../manifest-file.ts';
import { parseArguments } from '../parse-arguments.ts';
import { CommandError, type Options, UsageError, type Verb } from '../terminal.ts';
import { writeFileAtomic } from '../write-file-atomic.ts';

const ACCESS_LEVELS = ['public', 'protected'] as const;
const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

const OPTIONS = {
  upstream: { type: 'string', valueName: 'NAME', summary: 'the upstream of the routes (default api)' },
  access: {
    type: 'string',
    valueName: 'ACCESS',
    choices: ACCESS_LEVELS,
    summary: 'of operations for which the document states no security: protected (default) or public',
  },
  prefix: { type: 'string', valueName: 'PATH', summary: 'a path before those of the document, such as /api' },
  role: {
    type: 'string',
    multiple: true,
    valueName: 'SCOPE=ROLE',
    summary: 'the role that stands for an OAuth scope; may be repeated',
  },
  output: {
    type: 'string',
    short: 'o',
    valueName: 'FILE',
    summary: 'write to this new file instead of standard output',
  },
  'fail-on-loss': { type: 'boolean', summary: 'exit with 1 if a part of the document has no counterpart' },
  json: { type: 'boolean', summary: 'print the losses as JSON' },
} as const satisfies Options;

export const importVerb: Verb = {
  usage: 'signing-gateway import OPENAPI [--upstream NAME] [--access protected|public] [--prefix PATH] [-o FILE]',
  options: OPTIONS,
  examples: [
    'signing-gateway import openapi.yaml --upstream contacts -o routes/contacts.yaml',
    'signing-gateway import openapi.json --prefix /api --role contacts:write=admin --fail-on-loss',
  ],
  async run({ args, out, err, errColour }) {
    const { values, positionals } = parseArguments({ args: [...args], allowPositionals: true, options: OPTIONS });
    const [file, ...more] = positionals;
    if (file === undefined || more.length > 0) throw new UsageError('name one OpenAPI document');
    const { output } = values;
    if (output !== undefined && existsSync(output))
      throw new CommandError(
        `${output} exists; name another file, and compare both with "signing-gateway diff" or git`,
      );
    const document = read(file);
    const imported = importOpenApi(document, readOptions(values));
    const text = writeRoutes(imported);
    if (output === undefined) out(text);
    else writeFileAtomic(output, text);
    const losses = imported.losses.map((loss) => ({ file, document, ...loss })).map(toPrintedLoss);
    err(values.json ? `${JSON.stringify({ version: 1, losses }, null, 2)}\n` : formatLosses(losses, errColour));
    err(values.json ? '' : `${pluralize(imported.routes.length, 'route')} from ${printable(file)}\n`);
    return values['fail-on-loss'] && losses.length > 0 ? 1 : 0;
  },
};

function read(file: string): OpenApiDocument {
  try {
    return readOpenApi(readSource(file));
  } catch (error) {
    if (error instanceof OpenApiError) throw new CommandError(error.message);
    throw error;
  }
}

interface ImportValues {
  readonly upstream?: string | undefined;
  readonly access?: string | undefined;
  readonly prefix?: string | undefined;
  readonly role?: string[] | undefined;
}

function readOptions({ upstream = 'api', access = 'protected', prefix = '', role = [] }: ImportValues) {
  if (!NAME.test(upstream)) throw new UsageError(`--upstream "${upstream}" is not a name; write for example contacts`);
  const level = ACCESS_LEVELS.find((one) => one === access);
  if (level === undefined) throw new UsageError(`--access takes one of ${ACCESS_LEVELS.join(', ')}, not "${access}"`);
  if (prefix !== '' && !/^\/[^?#]*[^/?#]$/.test(prefix))
    throw new UsageError(`--prefix "${prefix}" is not a path; write for example /api`);
  const roles = role.map((pair) => {
    const at = pair.lastIndexOf('=');
    if (at < 1 || at === pair.length - 1) throw new UsageError(`--role "${pair}" is not SCOPE=ROLE`);
    return [pair.slice(0, at), pair.slice(at + 1)] as const;
  });
  return { upstream, access: level, prefix, roles: new Map(roles) };
}

interface PrintedLoss extends Pick<Loss, 'effect' | 'message'> {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

function toPrintedLoss(loss: Loss & { readonly file: string; readonly document: OpenApiDocument }): PrintedLoss {
  const { file, document, path, effect, message } = loss;
  const { line, column } = document.locate(path);
  return { file, line, column, effect, message };
}

function formatLosses(losses: readonly PrintedLoss[], colour: boolean): string {
  const sorted = losses.toSorted((a, b) => a.line - b.line || a.column - b.column);
  return sorted
    .map(({ file, line, column, effect, message }) => {
      const note = effect === 'none' ? '' : paint(` [${effect}]`, 'dim', colour);
      return `${paint(`${printable(file)}:${line}:${column}`, 'bold', colour)} ${printable(message)}${note}\n`;
    })
    .join('');
}

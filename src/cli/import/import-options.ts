import { readText } from '../../engine/manifest/source.ts';
import { type OpenApiDocument, OpenApiError, readOpenApi } from '../../openapi/import/openapi-document.ts';
import { readOrFail } from '../manifest-file.ts';
import { valueOption } from '../parse-arguments.ts';
import { CommandError, type Options, type OptionValues, UsageError } from '../terminal.ts';

const ACCESS_LEVELS = ['public', 'protected'] as const;
const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

export const IMPORT_OPTIONS = {
  access: valueOption(
    'ACCESS',
    'of operations for which the document states no security: protected (default) or public',
    { choices: ACCESS_LEVELS },
  ),
  prefix: valueOption('PATH', 'a path before those of the document, such as /api'),
  role: valueOption('SCOPE=ROLE', 'the role that stands for an OAuth scope; may be repeated', { multiple: true }),
} as const satisfies Options;

/** Large platforms publish documents of more than 10 MB. */
const MAX_DOCUMENT_BYTES = 100_000_000;

/** Reads an OpenAPI document. Throws a `CommandError` for any other file. */
export function readDocument(file: string): OpenApiDocument {
  const read = () => readText(file, MAX_DOCUMENT_BYTES);
  const text = readOrFail(file, 'name an OpenAPI document', read, MAX_DOCUMENT_BYTES);
  return withCommandErrors(() => readOpenApi({ path: file, text }));
}

/** Throws a `CommandError` in place of an `OpenApiError`. */
export function withCommandErrors<Result>(run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (error instanceof OpenApiError) throw new CommandError(error.message);
    throw error;
  }
}

type ImportValues = OptionValues<typeof IMPORT_OPTIONS> & { readonly upstream?: string | undefined };

/** Parses the options. Throws a `UsageError` if they are invalid. */
export function readImportOptions({ upstream = 'api', access = 'protected', prefix = '', role = [] }: ImportValues) {
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

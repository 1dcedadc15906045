import { BODYLESS_METHODS } from '../../engine/http1/http-methods.ts';
import { load, type PlannedManifest } from '../../engine/load.ts';
import { createFileEnvironment } from '../../engine/manifest/file-environment.ts';
import type { FindingLocation, Path } from '../../engine/problem/finding.ts';
import { documentManifest } from '../../openapi/import/document-manifest.ts';
import { type ImportedRoutes, importOpenApi } from '../../openapi/import/import-openapi.ts';
import type { ImportedRoute } from '../../openapi/import/imported-route.ts';
import type { OpenApiDocument } from '../../openapi/import/openapi-document.ts';
import { originOf } from '../../openapi/import/remove-refused.ts';
import { diff } from '../../prove/diff/diff-manifests.ts';
import type { Difference } from '../../prove/diff/difference.ts';
import { createDiffSide, type DiffSide } from '../../prove/diff/side.ts';
import { DIFF_FORMATS, DIFF_OPTIONS, isFailing, readDiffOptions } from '../diff/diff-options.ts';
import { formatProblems, pluralize } from '../format.ts';
import { IMPORT_OPTIONS, readDocument, readImportOptions } from '../import/import-options.ts';
import { chooseManifest, loadFile } from '../manifest-file.ts';
import { parseArguments } from '../parse-arguments.ts';
import { CommandError, type Options, type Terminal, UsageError, type Verb } from '../terminal.ts';
import { BODY_RULES, DRIFT_RULES, UNMATCHED_RULES, withDriftMessage } from './drift-messages.ts';

const OPTIONS = { ...DIFF_OPTIONS, ...IMPORT_OPTIONS } as const satisfies Options;

export const drift: Verb = {
  usage:
    'signing-gateway drift OPENAPI [FILE] [-f text|json|markdown] [--fail-on error|warning|info|never] [--prefix PATH]',
  options: OPTIONS,
  examples: [
    'signing-gateway drift openapi.yaml',
    'signing-gateway drift openapi.yaml deploy/gateway.yaml --prefix /api -f markdown --fail-on error',
  ],
  async run(terminal) {
    const { values, positionals } = parseArguments({
      args: [...terminal.args],
      allowPositionals: true,
      options: OPTIONS,
    });
    const [file, ...manifests] = positionals;
    if (file === undefined) throw new UsageError('name an OpenAPI document');
    const { failOn, format } = readDiffOptions(values);
    const document = readDocument(file);
    const imported = importOpenApi(document, { ...readImportOptions(values), upstream: 'api' });
    const manifest = chooseManifest(manifests);
    const differences = compare({ file, document, imported }, manifest, terminal);
    if (differences === undefined) return 2;
    terminal.out(
      DIFF_FORMATS[format]({ old: file, next: manifest, differences, hasBothPlaces: true }, terminal.outColour),
    );
    const losses = imported.losses.filter(({ effect }) => effect !== 'none').length;
    if (losses > 0)
      terminal.err(
        `${pluralize(losses, 'part')} of ${file} cannot be compared; "signing-gateway import ${file}" lists them\n`,
      );
    return isFailing(differences, failOn) ? 1 : 0;
  },
};

interface ImportedDocument {
  readonly file: string;
  readonly document: OpenApiDocument;
  readonly imported: ImportedRoutes;
}

/** Returns the differences from a document to a manifest; `undefined` for a manifest with errors, which it prints. */
function compare(described: ImportedDocument, manifest: string, terminal: Terminal): Difference[] | undefined {
  const loaded = loadFile(manifest, terminal.env);
  if (loaded.plan === undefined) {
    terminal.err(formatProblems(loaded.problems, loaded.sources, terminal.errColour));
    return undefined;
  }
  const { readFile } = createFileEnvironment(manifest, terminal.env);
  const next = createDiffSide(loaded, readFile);
  const old = documentSide(described, loaded, manifest, terminal);
  const methods = new Map(described.imported.routes.map(({ entry }) => [entry['id'], entry['method']]));
  return diff(old, next)
    .filter(({ rule, counterpart: { oldId }, witness }) => {
      // A document does not describe the body of GET, but a route may have one for its other methods.
      const isBodyless = BODY_RULES.has(rule) && BODYLESS_METHODS.has(String(methods.get(oldId)));
      // Another spelling of a path: no path of a route has a semicolon, and no document describes path folding.
      const isSpelling = witness?.request?.url.includes(';') === true;
      // The route, or the operation, receives no requests.
      const isUnreached = UNMATCHED_RULES.has(rule) && witness === undefined;
      return DRIFT_RULES.has(rule) && !isBodyless && !isSpelling && !isUnreached;
    })
    .map(withDriftMessage);
}

/** Returns the document as a side of a comparison, with the places of its operations. */
function documentSide(
  described: ImportedDocument,
  loaded: PlannedManifest,
  manifest: string,
  { env }: Terminal,
): DiffSide {
  const { file, document, imported } = described;
  if (imported.routes.length === 0) throw new CommandError(`${file} has no operation that a route can serve`);
  const text = JSON.stringify(
    documentManifest(imported, loaded.document.value as Readonly<Record<string, unknown>>, loaded),
  );
  const environment = createFileEnvironment(manifest, env);
  const planned = load({ path: file, text }, environment, loaded.plan);
  if (planned.plan === undefined)
    throw new CommandError(`${file} cannot be compared with ${manifest}: ${planned.problems[0]?.message}`);
  const locate = (where: FindingLocation) => {
    const [key, index, ...rest] = 'path' in where ? where.path : [];
    const route = key === 'routes' ? imported.routes[Number(index)] : undefined;
    return route === undefined ? document.locate(['paths'], 'key') : document.locate(operationPart(route, rest));
  };
  return createDiffSide(
    { ...planned, document: { ...planned.document, fileOf: () => file, locate } },
    environment.readFile,
  );
}

/** The members of an operation that state a key of its route. */
const MEMBERS: Readonly<Record<string, string>> = {
  access: 'security',
  roles: 'security',
  body: 'requestBody',
  params: 'parameters',
  query: 'parameters',
  headers: 'parameters',
};

/** Returns the path in the document of a part of a route. The importer records only the places of schemas. */
function operationPart(route: ImportedRoute, rest: Path): Path {
  const [key = ''] = rest;
  if (key === 'body' && route.origins.has('body/schema')) return originOf(route, ['body', 'schema']);
  const member = MEMBERS[key];
  return rest.length === 1 && member !== undefined ? [...route.origin, member] : originOf(route, rest);
}

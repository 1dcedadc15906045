import { createFileEnvironment } from '../engine/manifest/source.ts';
import { compareDocument } from '../openapi/drift/compare-document.ts';
import { importOpenApi } from '../openapi/import/import-openapi.ts';
import { pluralize } from '../report/text.ts';
import { DIFF_FORMATS, DIFF_OPTIONS, hasFailing, readDiffOptions } from './diff/diff-formats.ts';
import { IMPORT_OPTIONS, readDocument, readImportOptions, withCommandErrors } from './import/import-options.ts';
import { loadPlanned } from './manifest-file.ts';
import { chooseManifest } from './named-manifest.ts';
import { defineVerb, UsageError } from './terminal.ts';

export const verb = defineVerb({
  usage:
    'signing-gateway drift OPENAPI [FILE] [-f text|json|markdown] [--fail-on error|warning|info|never] [--prefix PATH]',
  options: { ...DIFF_OPTIONS, ...IMPORT_OPTIONS },
  examples: [
    'signing-gateway drift openapi.yaml',
    'signing-gateway drift openapi.yaml deploy/gateway.yaml --prefix /api -f markdown --fail-on error',
  ],
  async run(terminal, { values, positionals }) {
    const { env, out, err, outColour } = terminal;
    const [file, ...manifests] = positionals;
    if (file === undefined) throw new UsageError('name an OpenAPI document');
    const { failOn, format } = readDiffOptions(values);
    const document = readDocument(file);
    const imported = importOpenApi(document, { ...readImportOptions(values), upstream: 'api' });
    const manifest = chooseManifest(manifests);
    const loaded = loadPlanned(manifest, terminal, 2);
    const environment = createFileEnvironment(manifest, env);
    const differences = withCommandErrors(() => compareDocument({ file, document, imported }, loaded, environment));
    out(DIFF_FORMATS[format]({ old: file, next: manifest, differences, hasBothPlaces: true }, outColour));
    const losses = imported.losses.filter(({ effect }) => effect !== 'none').length;
    if (losses > 0)
      err(`${pluralize(losses, 'part')} of ${file} cannot be compared; "signing-gateway import ${file}" lists them\n`);
    return hasFailing(differences, failOn) ? 1 : 0;
  },
});

import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Range, Severity } from '../engine/problem/finding.ts';
import { type ReportRow, toJson } from './report.ts';

const LEVELS = { error: 'error', warning: 'warning', info: 'note' } as const satisfies Record<Severity, string>;
/** The id of the folder that paths are relative to. */
const ROOT = '%SRCROOT%';
const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';

interface SarifReport {
  readonly verb: string;
  readonly tool: { readonly name: string; readonly semanticVersion: string };
  /** All rules of the rows, as SARIF describes them. */
  readonly rules: readonly { readonly id: string }[];
  readonly rows: readonly ReportRow[];
}

/** Formats SARIF 2.1.0 (OASIS) for code scanning. */
export function formatSarif({ verb, tool, rules, rows }: SarifReport): string {
  const ids = rules.map(({ id }) => id);
  return toJson({
    version: '2.1.0',
    $schema: SCHEMA,
    runs: [
      {
        tool: { driver: { ...tool, rules } },
        originalUriBaseIds: { [ROOT]: { description: { text: `the folder that ${verb} ran in` } } },
        columnKind: 'utf16CodeUnits',
        results: rows.map((row) => resultOf(row, ids.indexOf(row.rule))),
      },
    ],
  });
}

function resultOf({ rule, severity, file, range, message, related, fingerprint }: ReportRow, ruleIndex: number) {
  const result = {
    ruleId: rule,
    ruleIndex,
    level: LEVELS[severity],
    message: { text: escapeLinks(message) },
    locations: [{ physicalLocation: physicalLocationOf(file, range) }],
    // The only fingerprint that code scanning reads.
    ...(fingerprint !== undefined && { partialFingerprints: { primaryLocationLineHash: fingerprint } }),
  };
  if (related === undefined) return result;
  const text = escapeLinks(related.message);
  const physicalLocation = physicalLocationOf(related.file ?? file, related.range);
  return {
    ...result,
    // Viewers show a related location where the message links to it (section 3.11.6).
    message: { text: `${escapeLinks(message)} ([${text.replaceAll(/[[\]\\]/g, '\\$&')}](1))` },
    relatedLocations: [{ id: 1, physicalLocation, message: { text } }],
  };
}

function physicalLocationOf(file: string, { line, column, endLine, endColumn }: Range): object {
  const artifactLocation = isAbsolute(file)
    ? { uri: pathToFileURL(file).href }
    : { uri: file.toWellFormed().split('/').map(encodeURIComponent).join('/'), uriBaseId: ROOT };
  return { artifactLocation, region: { startLine: line, startColumn: column, endLine, endColumn } };
}

/** Breaks up link syntax that the message quotes from a manifest. Braces need no escape: a message without arguments has no placeholders. */
function escapeLinks(text: string): string {
  return text.replaceAll('](', '] (');
}

import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Range, Severity } from '../../../engine/problem/finding.ts';
import type { Problem } from '../../../engine/problem/problem.ts';
import { type LintReport, type Reporter, ruleUri, toJson, withFingerprints } from './lint-report.ts';

export const SARIF_LEVELS = { error: 'error', warning: 'warning', info: 'note' } as const satisfies Record<
  Severity,
  string
>;
/** The id of the folder that paths are relative to. */
export const SARIF_ROOT = '%SRCROOT%';

export const SARIF_SCHEMA =
  'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';

/** Formats SARIF 2.1.0 (OASIS) for code scanning. */
export const sarif: Reporter = (report) => {
  const rules = [...new Set(report.problems.map(({ rule }) => rule))].sort();
  const results = withFingerprints(report).map(({ problem, fingerprint }) =>
    resultOf(problem, rules.indexOf(problem.rule), fingerprint),
  );
  return toJson({
    version: '2.1.0',
    $schema: SARIF_SCHEMA,
    runs: [
      {
        tool: { driver: driverOf(report, rules) },
        originalUriBaseIds: { [SARIF_ROOT]: { description: { text: 'the folder that lint ran in' } } },
        columnKind: 'utf16CodeUnits',
        results,
      },
    ],
  });
};

function driverOf(report: LintReport, rules: readonly string[]): object {
  return {
    name: 'signing-gateway',
    semanticVersion: report.version,
    rules: rules.map((id) => ruleOf(id, report)),
  };
}

/** Describes a rule. The help names the place of its documentation because code scanning does not show `helpUri`. */
function ruleOf(id: string, report: LintReport): object {
  const uri = ruleUri(id, report);
  const rule = uri === undefined ? { id } : { id, helpUri: uri };
  const rationale = report.rules.get(id)?.rationale;
  if (rationale === undefined) return rule;
  const command = `signing-gateway lint --explain ${id}`;
  const help =
    uri === undefined
      ? { text: `${rationale} Run: ${command}`, markdown: `${rationale} Run \`${command}\`.` }
      : { text: `${rationale} See ${uri}`, markdown: `${rationale} See [the rule's page](${uri}).` };
  return { ...rule, shortDescription: { text: rationale }, help };
}

function resultOf({ rule, severity, file, range, message, related }: Problem, ruleIndex: number, fingerprint: string) {
  const result = {
    ruleId: rule,
    ruleIndex,
    level: SARIF_LEVELS[severity],
    message: { text: escapeLinks(message) },
    locations: [{ physicalLocation: physicalLocationOf(file, range) }],
    // The only fingerprint that code scanning reads.
    partialFingerprints: { primaryLocationLineHash: fingerprint },
  };
  if (related === undefined) return result;
  const relatedText = escapeLinks(related.message);
  return {
    ...result,
    // Viewers show a related location where the message links to it (section 3.11.6).
    message: { text: `${escapeLinks(message)} ([${relatedText.replaceAll(/[[\]\\]/g, '\\$&')}](1))` },
    relatedLocations: [
      {
        id: 1,
        physicalLocation: physicalLocationOf(related.file ?? file, related.range),
        message: { text: relatedText },
      },
    ],
  };
}

export function physicalLocationOf(file: string, { line, column, endLine, endColumn }: Range): object {
  const artifactLocation = isAbsolute(file)
    ? { uri: pathToFileURL(file).href }
    : { uri: file.toWellFormed().split('/').map(encodeURIComponent).join('/'), uriBaseId: SARIF_ROOT };
  return { artifactLocation, region: { startLine: line, startColumn: column, endLine, endColumn } };
}

/** Breaks up link syntax that the message quotes from a manifest. Braces need no escape: a message without arguments has no placeholders. */
export function escapeLinks(text: string): string {
  return text.replaceAll('](', '] (');
}

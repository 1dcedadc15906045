import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Range, Severity } from '../../../problem/finding.ts';
import type { Problem } from '../../../problem/problem.ts';
import { type LintReport, type Reporter, ruleUri, toJson, withFingerprints } from './lint-report.ts';

const LEVELS = { error: 'error', warning: 'warning', info: 'note' } as const satisfies Record<Severity, string>;
const ROOT = '%SRCROOT%';

/** Formats SARIF 2.1.0 (OASIS) for code scanning. */
export const sarif: Reporter = (report) => {
  const rules = [...new Set(report.problems.map(({ rule }) => rule))].sort();
  const results = withFingerprints(report).map(({ problem, fingerprint }) =>
    resultOf(problem, rules.indexOf(problem.rule), fingerprint),
  );
  return toJson({
    version: '2.1.0',
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    runs: [
      {
        tool: { driver: driverOf(report, rules) },
        originalUriBaseIds: { [ROOT]: { description: { text: 'the folder that lint ran in' } } },
        columnKind: 'utf16CodeUnits',
        results,
      },
    ],
  });
};

function driverOf({ rules: entries, version }: LintReport, rules: readonly string[]): object {
  return {
    name: 'signing-gateway',
    semanticVersion: version,
    rules: rules.map((id) => ({ id, helpUri: ruleUri(id), ...helpOf(entries.get(id)?.rationale, ruleUri(id)) })),
  };
}

/** Returns a rule's help. The help includes the address of its page because code scanning does not show `helpUri`. */
function helpOf(rationale: string | undefined, uri: string): object {
  if (rationale === undefined) return {};
  const help = { text: `${rationale} See ${uri}`, markdown: `${rationale} See [the rule's page](${uri}).` };
  return { shortDescription: { text: rationale }, help };
}

function resultOf({ rule, severity, file, range, message, related }: Problem, ruleIndex: number, fingerprint: string) {
  const result = {
    ruleId: rule,
    ruleIndex,
    level: LEVELS[severity],
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

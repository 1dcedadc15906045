import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Severity } from '../../../problem/finding.ts';
import type { Problem, Range } from '../../../problem/problem.ts';
import { type LintReport, type Reporter, ruleUri, toJson, withFingerprints } from './lint-report.ts';

const LEVELS = { error: 'error', warning: 'warning', info: 'note' } as const satisfies Record<Severity, string>;
const ROOT = '%SRCROOT%';

/** SARIF 2.1.0 (OASIS), as code scanning reads it. */
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
        originalUriBaseIds: { [ROOT]: { description: { text: 'the folder that lint was run in' } } },
        columnKind: 'utf16CodeUnits',
        results,
      },
    ],
  });
};

function driverOf({ rules: known, version }: LintReport, rules: readonly string[]): object {
  return {
    name: 'signing-gateway',
    semanticVersion: version,
    rules: rules.map((id) => ({ id, helpUri: ruleUri(id), ...helpOf(known.get(id)?.rationale, ruleUri(id)) })),
  };
}

/** Code scanning shows the help, and not the address of a page that has more of it. */
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
    // The one name that code scanning looks for.
    partialFingerprints: { primaryLocationLineHash: fingerprint },
  };
  if (related === undefined) return result;
  const words = escapeLinks(related.message);
  return {
    ...result,
    // A related location is shown where the message links to it (section 3.11.6).
    message: { text: `${escapeLinks(message)} ([${words.replaceAll(/[[\]\\]/g, '\\$&')}](1))` },
    relatedLocations: [
      { id: 1, physicalLocation: physicalLocationOf(related.file ?? file, related.range), message: { text: words } },
    ],
  };
}

function physicalLocationOf(file: string, { line, column, endLine, endColumn }: Range): object {
  const artifactLocation = isAbsolute(file)
    ? { uri: pathToFileURL(file).href }
    : { uri: file.toWellFormed().split('/').map(encodeURIComponent).join('/'), uriBaseId: ROOT };
  return { artifactLocation, region: { startLine: line, startColumn: column, endLine, endColumn } };
}

/** What was quoted from a manifest is no link of ours. Braces stay as they are: without arguments nothing is filled in. */
function escapeLinks(text: string): string {
  return text.replaceAll('](', '] (');
}

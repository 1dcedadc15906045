import { pluralize } from '../../report/text.ts';
import { escapeXml, xmlAttributes } from '../../report/xml.ts';
import { CHANGE_KINDS, type ChangeKind } from '../../traffic/compare-outcomes.ts';
import { callersText, decisionText } from '../candidate/candidate-text.ts';
import type { ReplayResult } from './replay-formats.ts';
import { calibrationText, type ReplayGroup, type ReplaySummary, sumOf } from './replay-summary.ts';
import { reasonsText } from './replay-text.ts';

interface JunitCase {
  readonly name: string;
  /** Why it fails; `undefined` if it does not. */
  readonly failure: string | undefined;
  readonly text: string;
}

/** Formats JUnit XML: a test case for each kind of change, one for unknown outcomes and one for the calibration. */
export function formatReplayJunit({ summary, failures }: ReplayResult): string {
  const cases = casesOf(summary, failures);
  const failed = cases.filter(({ failure }) => failure !== undefined).length;
  const totals = { tests: cases.length, failures: failed, errors: 0 };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    `<testsuites${xmlAttributes({ name: 'signing-gateway replay', ...totals })}>\n`,
    `  <testsuite${xmlAttributes({ name: summary.next, ...totals, skipped: 0 })}>\n`,
    ...cases.map((one) => formatCase(one, summary.next)),
    '  </testsuite>\n',
    '</testsuites>\n',
  ].join('');
}

function casesOf(summary: ReplaySummary, failures: readonly string[]): JunitCase[] {
  const failureOf = (name: string) => failures.find((failure) => failure.startsWith(`${name}: `));
  const kinds = (Object.keys(CHANGE_KINDS) as ChangeKind[]).map((kind) => {
    const groups = summary.groups.filter((group) => group.kind === kind);
    return { name: kind, failure: failureOf(kind), text: groups.map(groupText).join('\n') };
  });
  const reasons = sumOf(summary.unknown) === 0 ? '' : reasonsText(summary.unknown);
  return [
    ...kinds,
    { name: 'unknown', failure: failureOf('unknown'), text: reasons },
    { name: 'calibration', failure: undefined, text: calibrationText(summary) },
  ];
}

function groupText({ from, to, requests, callers, lines }: ReplayGroup): string {
  return `${pluralize(requests, 'request')} of ${callersText(callers)}: ${decisionText(from)}, now ${decisionText(to)} (${lines.join(', ')})`;
}

function formatCase({ name, failure, text }: JunitCase, file: string): string {
  const attributes = xmlAttributes({ name, classname: file, file });
  if (failure !== undefined)
    return `    <testcase${attributes}><failure${xmlAttributes({ message: failure })}>${escapeXml(text)}</failure></testcase>\n`;
  if (text === '') return `    <testcase${attributes}/>\n`;
  return `    <testcase${attributes}><system-out>${escapeXml(text)}</system-out></testcase>\n`;
}

import type { Severity } from '../../engine/problem/finding.ts';
import type { Difference } from '../../prove/diff/difference.ts';
import { isFailing } from '../../report/report.ts';
import { parseChoice } from '../parse-arguments.ts';
import type { Options, OptionValues } from '../terminal.ts';
import { DIFF_FORMATS } from './diff-formats.ts';

/** The options of the verbs that print differences. */
export const DIFF_OPTIONS = {
  'fail-on': {
    type: 'string',
    valueName: 'SEVERITY',
    choices: ['error', 'warning', 'info', 'never'],
    summary: 'exit with 1 from this severity on: error, warning (default), info or never',
  },
  format: {
    type: 'string',
    short: 'f',
    valueName: 'FORMAT',
    choices: Object.keys(DIFF_FORMATS),
    summary: 'text (default), json, or markdown for a pull request',
  },
} as const satisfies Options;

type FailOn = Severity | 'never';

/** Parses the options. Throws a `UsageError` if they are invalid. */
export function readDiffOptions(values: OptionValues<typeof DIFF_OPTIONS>) {
  const formats = Object.keys(DIFF_FORMATS) as (keyof typeof DIFF_FORMATS)[];
  return {
    failOn: parseChoice<FailOn>('--fail-on', values['fail-on'], DIFF_OPTIONS['fail-on'].choices, 'warning'),
    format: parseChoice('--format', values.format, formats, 'text'),
  };
}

/** True if one of the differences is at least as severe. */
export function hasFailing(differences: readonly Difference[], failOn: FailOn): boolean {
  return failOn !== 'never' && differences.some((difference) => isFailing(difference, failOn));
}

import { PRESETS } from '../../check/lint/rule.ts';
import { RULES } from '../../check/lint/rule-table.ts';
import type { Severity } from '../../engine/problem/finding.ts';
import { DEFAULT_MAX_PROBLEMS } from '../../report/problem-groups.ts';
import { ADDRESS_OPTIONS, readOverrides } from '../address-options.ts';
import { MANIFEST_OPTIONS, namedManifests } from '../named-manifest.ts';
import { parseChoice, parseCount, parseLimit, valueOption } from '../parse-arguments.ts';
import { type Arguments, type Options, UsageError } from '../terminal.ts';
import { OUTPUT_OPTIONS, readOutputs } from './outputs.ts';

const SEVERITIES = ['error', 'warning', 'info'] as const satisfies readonly Severity[];

export const LINT_OPTIONS = {
  ...MANIFEST_OPTIONS,
  ...OUTPUT_OPTIONS,
  ...ADDRESS_OPTIONS,
  preset: valueOption('PRESET', `use this preset instead of the manifest's: ${PRESETS.join(', ')}`, {
    choices: PRESETS,
  }),
  'fail-on': valueOption('SEVERITY', 'exit with 1 from this severity on: error (default), warning, info', {
    choices: SEVERITIES,
  }),
  'max-warnings': valueOption('N', 'exit with 1 if there are more warnings than N'),
  'max-problems': valueOption(
    'N',
    `print at most N different problems in pretty, stylish and markdown (default ${DEFAULT_MAX_PROBLEMS}); 0 prints all`,
  ),
  fix: { type: 'boolean', summary: 'fix the problems that have a safe fix, in the files' },
  'dry-run': { type: 'boolean', summary: 'with --fix: print the patch and write nothing' },
  baseline: valueOption('FILE', 'report only problems that are not in this file'),
  'write-baseline': valueOption('FILE', 'write the current problems to this file, for --baseline'),
  invariants: valueOption('FILE', 'also prove the invariants of this file; may be repeated', { multiple: true }),
  online: {
    type: 'boolean',
    summary: 'also connect to the upstreams and the token issuer; no other check uses the network',
  },
  explain: valueOption('RULE', 'explain a rule, with examples', { choices: RULES.map(({ id }) => id) }),
} as const satisfies Options;

export type LintArguments = ReturnType<typeof readLintArguments>;

/** Reads the arguments. Throws a `UsageError` if they are invalid or exclude each other. */
export function readLintArguments({ values, positionals, tokens }: Arguments<typeof LINT_OPTIONS>) {
  const files = namedManifests(values, positionals);
  const { fix, baseline } = values;
  const maxWarnings = values['max-warnings'];
  const isDryRun = values['dry-run'] === true;
  const newBaseline = values['write-baseline'];
  if (isDryRun && !fix) throw new UsageError('--dry-run works only with --fix; add --fix');
  if (fix && !isDryRun && files.includes('-'))
    throw new UsageError('--fix cannot write to standard input; add --dry-run');
  if (baseline !== undefined && newBaseline !== undefined)
    throw new UsageError('--baseline and --write-baseline exclude each other; remove one');
  return {
    files,
    outputs: readOutputs(tokens, files),
    preset: parseChoice('--preset', values.preset, PRESETS, undefined),
    failOn: parseChoice('--fail-on', values['fail-on'], SEVERITIES, 'error'),
    maxWarnings: maxWarnings === undefined ? Number.POSITIVE_INFINITY : parseCount('max-warnings', maxWarnings),
    maxProblems: parseLimit('max-problems', values['max-problems'], DEFAULT_MAX_PROBLEMS),
    isFix: fix === true,
    isDryRun,
    baseline,
    newBaseline,
    isOnline: values.online === true,
    invariantFiles: values.invariants ?? [],
    explain: values.explain,
    // The addresses that `run` would get.
    overrides: readOverrides(values),
  };
}

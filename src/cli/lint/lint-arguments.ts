import { resolve } from 'node:path';
import { PRESETS } from '../../check/lint/rule.ts';
import { RULES } from '../../check/lint/rule-table.ts';
import type { Severity } from '../../engine/problem/finding.ts';
import { DEFAULT_MAX_PROBLEMS } from '../../report/problem-groups.ts';
import { ADDRESS_OPTIONS, readOverrides } from '../address-options.ts';
import { MANIFEST_OPTIONS, namedManifests } from '../named-manifest.ts';
import { formatOption, parseChoice, parseCount, parseFormat, parseLimit, valueOption } from '../parse-arguments.ts';
import { type Arguments, type Options, type Terminal, UsageError } from '../terminal.ts';
import { writeFileAtomic } from '../write-file-atomic.ts';
import { LINT_FORMATS, type LintFormat, type LintReport } from './lint-formats.ts';

const SEVERITIES = ['error', 'warning', 'info'] as const satisfies readonly Severity[];

export const LINT_OPTIONS = {
  ...MANIFEST_OPTIONS,
  format: {
    ...formatOption(LINT_FORMATS, `one of ${Object.keys(LINT_FORMATS).join(', ')}; repeat it with -o for several`),
    multiple: true,
  },
  output: valueOption('FILE', 'write the preceding format to this file instead of standard output', {
    short: 'o',
    multiple: true,
  }),
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

/** A format of the report and where to write it. */
export interface Output {
  readonly format: LintFormat;
  /** Default: standard output. */
  readonly file?: string;
}

/** Returns the outputs: each `-o` belongs to the `-f` before it. None may overwrite an input. The default format is `pretty`. */
export function readOutputs(tokens: Arguments<Options>['tokens'], inputs: readonly string[]): Output[] {
  const outputs: Output[] = [];
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, value = '' } = token;
    if (name === 'format') outputs.push({ format: parseFormat(LINT_FORMATS, value) });
    if (name === 'output') outputs.push(withFile(outputs.pop(), value));
  }
  rejectDuplicateOutputs(outputs, inputs);
  return outputs.length === 0 ? [{ format: 'pretty' }] : outputs;
}

/** Writes the files, then standard output: a closed pipe on standard output would end the process before the files. */
export function writeOutputs(outputs: readonly Output[], report: LintReport, { out, outColour }: Terminal): void {
  for (const { format, file } of outputs)
    if (file !== undefined) writeFileAtomic(file, LINT_FORMATS[format](report, false));
  for (const { format, file } of outputs) if (file === undefined) out(LINT_FORMATS[format](report, outColour));
}

function withFile(output: Output | undefined, file: string): Output {
  if (output === undefined) throw new UsageError(`write -f FORMAT before "-o ${file}"`);
  if (file === '') throw new UsageError(`name a file after -o for ${output.format}`);
  if (output.file !== undefined)
    throw new UsageError(`${output.format} already goes to ${output.file}; write -f FORMAT before "-o ${file}"`);
  return { ...output, file };
}

function rejectDuplicateOutputs(outputs: readonly Output[], inputs: readonly string[]): void {
  const unredirected = outputs.filter(({ file }) => file === undefined).map(({ format }) => format);
  if (unredirected.length > 1)
    throw new UsageError(`only one format can go to standard output, not ${unredirected.join(' and ')}; add -o FILE`);
  const usedPaths = new Set(inputs.map((file) => resolve(file)));
  for (const { file } of outputs) {
    if (file === undefined) continue;
    if (usedPaths.has(resolve(file)))
      throw new UsageError(`${file} is already an input or an output; name another file after -o`);
    usedPaths.add(resolve(file));
  }
}

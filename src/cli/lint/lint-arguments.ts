import { PRESETS } from '../../check/lint/rule.ts';
import { RULES } from '../../check/lint/rule-table.ts';
import type { Severity } from '../../engine/problem/finding.ts';
import { DEFAULT_MAX_PROBLEMS } from '../../report/problem-groups.ts';
import { ADDRESS_OPTIONS, readOverrides } from '../address-options.ts';
import { MANIFEST_OPTIONS, parseManifestArguments } from '../manifest-file.ts';
import { parseChoice, parseCount, parseLimit } from '../parse-arguments.ts';
import { type Options, UsageError } from '../terminal.ts';
import { OUTPUT_OPTIONS, readOutputs } from './outputs.ts';

const SEVERITIES = ['error', 'warning', 'info'] as const satisfies readonly Severity[];

const OWN_OPTIONS = {
  ...ADDRESS_OPTIONS,
  preset: {
    type: 'string',
    valueName: 'PRESET',
    choices: PRESETS,
    summary: `use this preset instead of the manifest's: ${PRESETS.join(', ')}`,
  },
  'fail-on': {
    type: 'string',
    valueName: 'SEVERITY',
    choices: SEVERITIES,
    summary: 'exit with 1 from this severity on: error (default), warning, info',
  },
  'max-warnings': { type: 'string', valueName: 'N', summary: 'exit with 1 if there are more warnings than N' },
  'max-problems': {
    type: 'string',
    valueName: 'N',
    summary: `print at most N different problems in pretty, stylish and markdown (default ${DEFAULT_MAX_PROBLEMS}); 0 prints all`,
  },
  fix: { type: 'boolean', summary: 'fix the problems that have a safe fix, in the files' },
  'dry-run': { type: 'boolean', summary: 'with --fix: print the patch and write nothing' },
  baseline: { type: 'string', valueName: 'FILE', summary: 'report only problems that are not in this file' },
  'write-baseline': {
    type: 'string',
    valueName: 'FILE',
    summary: 'write the current problems to this file, for --baseline',
  },
  invariants: {
    type: 'string',
    multiple: true,
    valueName: 'FILE',
    summary: 'also prove the invariants of this file; may be repeated',
  },
  online: {
    type: 'boolean',
    summary: 'also connect to the upstreams and the token issuer; no other check uses the network',
  },
  explain: {
    type: 'string',
    valueName: 'RULE',
    choices: RULES.map(({ id }) => id),
    summary: 'explain a rule, with examples',
  },
} as const satisfies Options;

export const LINT_OPTIONS = { ...MANIFEST_OPTIONS, ...OUTPUT_OPTIONS, ...OWN_OPTIONS };

export type LintArguments = ReturnType<typeof parseLintArguments>;

/** Parses the arguments. Throws a `UsageError` if they are invalid or exclude each other. */
export function parseLintArguments(args: readonly string[]) {
  const { files, tokens } = parseManifestArguments(args, { ...OUTPUT_OPTIONS, ...OWN_OPTIONS });
  const values = new Map(tokens.map((token) => (token.kind === 'option' ? [token.name, token.value ?? ''] : ['', ''])));
  const maxWarnings = values.get('max-warnings');
  const isFix = values.has('fix');
  if (values.has('dry-run') && !isFix) throw new UsageError('--dry-run works only with --fix; add --fix');
  if (isFix && !values.has('dry-run') && files.includes('-'))
    throw new UsageError('--fix cannot write to standard input; add --dry-run');
  if (values.has('baseline') && values.has('write-baseline'))
    throw new UsageError('--baseline and --write-baseline exclude each other; remove one');
  return {
    files,
    outputs: readOutputs(tokens, files),
    preset: parseChoice('--preset', values.get('preset'), PRESETS, undefined),
    failOn: parseChoice('--fail-on', values.get('fail-on'), SEVERITIES, 'error'),
    maxWarnings: maxWarnings === undefined ? Number.POSITIVE_INFINITY : parseCount('max-warnings', maxWarnings),
    maxProblems: parseLimit('max-problems', values.get('max-problems'), DEFAULT_MAX_PROBLEMS),
    fix: !isFix ? 'no' : values.has('dry-run') ? 'show' : ('write' as 'no' | 'show' | 'write'),
    baseline: values.get('baseline') ?? values.get('write-baseline'),
    isBaselineWrite: values.has('write-baseline'),
    isOnline: values.has('online'),
    invariantFiles: tokens.flatMap((token) =>
      token.kind === 'option' && (token.name as string) === 'invariants' ? [token.value] : [],
    ),
    explain: values.get('explain'),
    // The addresses that `run` would get.
    overrides: readOverrides({ listen: values.get('listen'), admin: values.get('admin') }),
  };
}

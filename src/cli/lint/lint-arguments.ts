import { PRESETS, type Preset } from '../../lint/rule.ts';
import { suggestion } from '../../problem/did-you-mean.ts';
import type { Severity } from '../../problem/finding.ts';
import { MANIFEST_OPTIONS, parseManifestArguments } from '../manifest-file.ts';
import { type Options, UsageError } from '../terminal.ts';
import { OUTPUT_OPTIONS, type Output, readOutputs } from './outputs.ts';

const SEVERITIES = ['error', 'warning', 'info'] as const satisfies readonly Severity[];

const OWN_OPTIONS = {
  preset: {
    type: 'string',
    valueName: 'PRESET',
    choices: PRESETS,
    summary: `in place of the manifest's: ${PRESETS.join(', ')}`,
  },
  'fail-on': {
    type: 'string',
    valueName: 'SEVERITY',
    choices: SEVERITIES,
    summary: 'exit with 1 from this severity on: error (if left out), warning, info',
  },
  'max-warnings': { type: 'string', valueName: 'N', summary: 'exit with 1 if there are more warnings' },
  fix: { type: 'boolean', summary: 'mend in the file what can be mended safely' },
  'dry-run': { type: 'boolean', summary: 'with --fix: print the patch, and write nothing' },
  baseline: { type: 'string', valueName: 'FILE', summary: 'tell only of what this file does not know' },
  'write-baseline': { type: 'string', valueName: 'FILE', summary: 'write down what is told of now, for --baseline' },
  online: { type: 'boolean', summary: 'ask the upstreams and the issuer too; without it nobody is asked' },
  explain: { type: 'string', valueName: 'RULE', summary: 'say why there is a rule, with examples' },
} as const satisfies Options;

export const LINT_OPTIONS = { ...MANIFEST_OPTIONS, ...OUTPUT_OPTIONS, ...OWN_OPTIONS };

/** What `lint` was called for. */
export interface LintArguments {
  readonly files: readonly string[];
  readonly outputs: readonly Output[];
  readonly preset: Preset | undefined;
  readonly failOn: Severity;
  readonly maxWarnings: number;
  readonly fix: 'no' | 'write' | 'show';
  readonly baseline: string | undefined;
  readonly isBaselineWrite: boolean;
  readonly isOnline: boolean;
  readonly explain: string | undefined;
}

/** @throws UsageError */
export function parseLintArguments(args: readonly string[]): LintArguments {
  const { files, tokens } = parseManifestArguments(args, { ...OUTPUT_OPTIONS, ...OWN_OPTIONS });
  const given = new Map(tokens.map((token) => (token.kind === 'option' ? [token.name, token.value ?? ''] : ['', ''])));
  const isFix = given.has('fix');
  if (given.has('dry-run') && !isFix) throw new UsageError('--dry-run goes with --fix');
  if (isFix && !given.has('dry-run') && files.includes('-'))
    throw new UsageError('what comes by the standard input cannot be mended in place; add --dry-run');
  if (given.has('baseline') && given.has('write-baseline'))
    throw new UsageError('write one of --baseline and --write-baseline');
  return {
    files,
    outputs: readOutputs(tokens, files),
    preset: parseChoice('preset', given.get('preset'), PRESETS),
    failOn: parseChoice('fail-on', given.get('fail-on'), SEVERITIES) ?? 'error',
    maxWarnings: parseMaxWarnings(given.get('max-warnings')),
    fix: !isFix ? 'no' : given.has('dry-run') ? 'show' : 'write',
    baseline: given.get('baseline') ?? given.get('write-baseline'),
    isBaselineWrite: given.has('write-baseline'),
    isOnline: given.has('online'),
    explain: given.get('explain'),
  };
}

function parseChoice<Word extends string>(
  option: string,
  written: string | undefined,
  words: readonly Word[],
): Word | undefined {
  const word = words.find((known) => known === written);
  if (written !== undefined && word === undefined)
    throw new UsageError(`--${option} ${written} is not known${suggestion(written, words)}`);
  return word;
}

function parseMaxWarnings(written: string | undefined): number {
  if (written === undefined) return Number.POSITIVE_INFINITY;
  if (!/^\d{1,9}$/.test(written)) throw new UsageError(`--max-warnings takes a whole number, not "${written}"`);
  return Number(written);
}

import { diff as differencesBetween } from '../../diff/diff.ts';
import type { Difference } from '../../diff/difference.ts';
import { createDiffSide, type DiffSide } from '../../diff/side.ts';
import type { Plan } from '../../plan/plan.ts';
import { SEVERITY_RANKS, type Severity } from '../../problem/finding.ts';
import { parseArguments } from '../parse-arguments.ts';
import { type Options, type Terminal, UsageError, type Verb } from '../terminal.ts';
import { formatDiffJson, formatDiffMarkdown, formatDiffText } from './diff-formats.ts';
import { loadRevision } from './load-revision.ts';

const FORMATS = { text: formatDiffText, json: formatDiffJson, markdown: formatDiffMarkdown } as const;

const OPTIONS = {
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
    choices: Object.keys(FORMATS),
    summary: 'text (default), json, or markdown for a pull request',
  },
} as const satisfies Options;

export const diff: Verb = {
  usage: 'signing-gateway diff OLD NEW [-f text|json|markdown] [--fail-on error|warning|info|never]',
  options: OPTIONS,
  examples: [
    'signing-gateway diff main:gateway.yaml gateway.yaml',
    'signing-gateway diff old.yaml new.yaml -f markdown --fail-on error > comment.md',
  ],
  async run(terminal) {
    const { values, positionals } = parseArguments({
      args: [...terminal.args],
      allowPositionals: true,
      options: OPTIONS,
    });
    const [old, next, ...more] = positionals;
    if (old === undefined || next === undefined || more.length > 0) throw new UsageError('name two manifests: OLD NEW');
    const failOn = parseChoice(values['fail-on'], 'warning', OPTIONS['fail-on'].choices, '--fail-on');
    const format = parseChoice(values.format, 'text', Object.keys(FORMATS) as (keyof typeof FORMATS)[], '--format');
    const oldSide = readSide(old, terminal);
    const newSide = readSide(next, terminal, oldSide?.plan);
    if (oldSide === undefined || newSide === undefined) return 2;
    const differences = differencesBetween(oldSide, newSide);
    terminal.out(FORMATS[format]({ old, next, differences }, terminal.outColour));
    return failOn !== 'never' && differences.some((difference) => isAtLeast(difference, failOn)) ? 1 : 0;
  },
};

function isAtLeast({ severity }: Difference, least: Severity): boolean {
  return SEVERITY_RANKS[severity] >= SEVERITY_RANKS[least];
}

function readSide(name: string, terminal: Terminal, other?: Plan): DiffSide | undefined {
  const loaded = loadRevision(name, terminal, other);
  return loaded && createDiffSide(loaded.planned, loaded.readFile);
}

function parseChoice<Word extends string>(
  text: string | undefined,
  defaultWord: Word,
  words: readonly Word[],
  option: string,
): Word {
  const word = words.find((candidate) => candidate === (text ?? defaultWord));
  if (word === undefined) throw new UsageError(`${option} takes one of ${words.join(', ')}, not "${text}"`);
  return word;
}

import { resolve } from 'node:path';
import { suggestion } from '../../problem/did-you-mean.ts';
import { type Options, type Terminal, UsageError } from '../terminal.ts';
import { writeFileAtomic } from '../write-file-atomic.ts';
import type { LintReport } from './reporters/lint-report.ts';
import { REPORTERS, type ReportFormat } from './reporters/reporters.ts';

/** One way in which a report is written down. */
export interface Output {
  readonly format: ReportFormat;
  /** Left out: the standard output. */
  readonly file?: string;
}

const FORMATS = Object.keys(REPORTERS) as ReportFormat[];

export const OUTPUT_OPTIONS = {
  format: {
    type: 'string',
    short: 'f',
    multiple: true,
    valueName: 'FORMAT',
    choices: FORMATS,
    summary: `one of ${FORMATS.join(', ')}; several at once with -o`,
  },
  output: {
    type: 'string',
    short: 'o',
    multiple: true,
    valueName: 'FILE',
    summary: 'the file for the format before it, in place of the standard output',
  },
} as const satisfies Options;

/** What `parseArgs` tells of each argument with `tokens: true`. */
interface ArgumentToken {
  readonly kind: string;
  readonly name?: string;
  readonly value?: string | undefined;
}

/**
 * The outputs that were asked for: each `-o` belongs to the `-f` before it, and `pretty` is what is left without any.
 *
 * @param inputs files that are read, and so are never written to
 */
export function readOutputs(tokens: readonly ArgumentToken[], inputs: readonly string[]): Output[] {
  const outputs: Output[] = [];
  for (const { kind, name, value = '' } of tokens) {
    if (kind !== 'option') continue;
    if (name === 'format') outputs.push({ format: formatOf(value) });
    if (name === 'output') outputs.push(withFile(outputs.pop(), value));
  }
  rejectDuplicateOutputs(outputs, inputs);
  return outputs.length === 0 ? [{ format: 'pretty' }] : outputs;
}

/** Writes the files first: what reads the standard output may well end the run. */
export function writeOutputs(outputs: readonly Output[], report: LintReport, { out, outColour }: Terminal): void {
  for (const { format, file } of outputs)
    if (file !== undefined) writeFileAtomic(file, REPORTERS[format](report, false));
  for (const { format, file } of outputs) if (file === undefined) out(REPORTERS[format](report, outColour));
}

function formatOf(word: string): ReportFormat {
  const format = FORMATS.find((known) => known === word);
  if (format === undefined) throw new UsageError(`there is no format "${word}"${suggestion(word, FORMATS)}`);
  return format;
}

function withFile(output: Output | undefined, file: string): Output {
  if (output === undefined) throw new UsageError(`write -f FORMAT before "-o ${file}"`);
  if (file === '') throw new UsageError(`name a file after -o for ${output.format}`);
  if (output.file !== undefined)
    throw new UsageError(`${output.format} goes to ${output.file} already; write -f FORMAT before "-o ${file}"`);
  return { ...output, file };
}

function rejectDuplicateOutputs(outputs: readonly Output[], inputs: readonly string[]): void {
  const loose = outputs.filter(({ file }) => file === undefined).map(({ format }) => format);
  if (loose.length > 1)
    throw new UsageError(`one format at most goes to the standard output, not ${loose.join(' and ')}; add -o FILE`);
  const taken = new Set(inputs.map((file) => resolve(file)));
  for (const { file } of outputs) {
    if (file === undefined) continue;
    if (taken.has(resolve(file))) throw new UsageError(`${file} is taken already; write another file after -o`);
    taken.add(resolve(file));
  }
}

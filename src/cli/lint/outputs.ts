import { resolve } from 'node:path';
import { formatOption, parseFormat, valueOption } from '../parse-arguments.ts';
import { type Arguments, type Options, type Terminal, UsageError } from '../terminal.ts';
import { writeFileAtomic } from '../write-file-atomic.ts';
import { LINT_FORMATS, type LintFormat, type LintReport } from './lint-formats.ts';

/** A format of the report and where to write it. */
export interface Output {
  readonly format: LintFormat;
  /** Default: standard output. */
  readonly file?: string;
}

export const OUTPUT_OPTIONS = {
  format: {
    ...formatOption(LINT_FORMATS, `one of ${Object.keys(LINT_FORMATS).join(', ')}; repeat it with -o for several`),
    multiple: true,
  },
  output: valueOption('FILE', 'write the preceding format to this file instead of standard output', {
    short: 'o',
    multiple: true,
  }),
} as const satisfies Options;

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

import { formatSource } from '../check/fmt/format-text.ts';
import type { Source } from '../engine/manifest/source.ts';
import { formatProblems } from '../report/text.ts';
import { readSource, readStandardInput } from './manifest-file.ts';
import { MANIFEST_OPTIONS, namedManifests } from './named-manifest.ts';
import { CommandError, defineVerb, type ExitCode, type Terminal } from './terminal.ts';
import { writeFileAtomic } from './write-file-atomic.ts';

export const verb = defineVerb({
  usage: 'signing-gateway fmt [FILE...] [--check]',
  options: {
    ...MANIFEST_OPTIONS,
    check: { type: 'boolean', summary: 'write nothing; exit with 1 if a file is not formatted' },
  },
  examples: ['signing-gateway fmt --check gateway.yaml gateway.test.yaml', 'signing-gateway fmt - < gateway.yaml'],
  async run(terminal, { values, positionals }) {
    const files = namedManifests(values, positionals);
    const codes = files.map((file) => formatFile(file, values.check === true, terminal));
    return codes.includes(1) ? 1 : 0;
  },
});

function formatFile(file: string, isCheck: boolean, terminal: Terminal): ExitCode {
  const source = file === '-' ? readStandardInput() : readSource(file);
  const formatted = format(source, terminal);
  if (formatted === undefined) return 1;
  const isFormatted = formatted === source.text;
  if (isCheck && !isFormatted)
    terminal.out(`${source.path}:${firstDifference(source.text, formatted)} is not formatted; run fmt\n`);
  if (isCheck) return isFormatted ? 0 : 1;
  if (file === '-') terminal.out(formatted);
  else if (!isFormatted) {
    writeFileAtomic(file, formatted);
    terminal.out(`${file}\n`);
  }
  return 0;
}

/** Returns the formatted text. Prints the problems and returns `undefined` if the text is not valid YAML. */
function format(source: Source, { err, errColour }: Terminal): string | undefined {
  const result = formatSource(source);
  if ('text' in result) return result.text;
  if ('isChanged' in result)
    throw new CommandError(
      `${source.path}: not written, because formatting would change its meaning; please report this bug in fmt`,
    );
  err(formatProblems(result.problems, source.text, errColour));
  return undefined;
}

/** Returns the number of the first line that differs, from 1. */
function firstDifference(text: string, formatted: string): number {
  const lines = formatted.split('\n');
  return text.split('\n').findIndex((line, index) => line !== lines[index]) + 1 || lines.length;
}

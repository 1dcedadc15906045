import { isDeepStrictEqual } from 'node:util';
import { parse } from '../manifest/document.ts';
import { formatYaml } from '../manifest/format.ts';
import type { Source } from '../manifest/source.ts';
import { tokenize } from '../manifest/yaml-tokens.ts';
import { toProblems } from '../problem/problem.ts';
import { formatProblems } from './format.ts';
import { MANIFEST_OPTIONS, parseManifestArguments, readSource, readStandardInput } from './manifest-file.ts';
import { CommandError, type ExitCode, type Options, type Terminal, type Verb } from './terminal.ts';
import { writeFileAtomic } from './write-file-atomic.ts';

const OPTIONS = {
  check: { type: 'boolean', summary: 'write nothing, and fail when there is something to write' },
} as const satisfies Options;

export const fmt: Verb = {
  usage: 'signing-gateway fmt [FILE …] [--check]',
  options: { ...MANIFEST_OPTIONS, ...OPTIONS },
  examples: ['signing-gateway fmt --check gateway.yaml gateway.test.yaml', 'signing-gateway fmt - < gateway.yaml'],
  async run(terminal) {
    const { files, given } = parseManifestArguments(terminal.args, OPTIONS);
    const codes = files.map((file) => formatFile(file, given.has('check'), terminal));
    return codes.includes(1) ? 1 : 0;
  },
};

function formatFile(file: string, isCheck: boolean, terminal: Terminal): ExitCode {
  const source = file === '-' ? readStandardInput() : readSource(file);
  const laidOut = formattedText(source, terminal);
  if (laidOut === undefined) return 1;
  const isSame = laidOut === source.text;
  if (isCheck && !isSame)
    terminal.out(`${source.path}:${firstDifference(source.text, laidOut)} is not laid out as fmt does it\n`);
  if (isCheck) return isSame ? 0 : 1;
  if (file === '-') terminal.out(laidOut);
  else if (!isSame) {
    writeFileAtomic(file, laidOut);
    terminal.out(`${file}\n`);
  }
  return 0;
}

/** Nothing, said why, where the text is no YAML. */
function formattedText(source: Source, { err, errColour }: Terminal): string | undefined {
  const { path, text } = source;
  const { document, findings } = parse(source);
  if (findings.length > 0) {
    err(formatProblems(toProblems(findings, document), text, errColour));
    return undefined;
  }
  const laidOut = formatYaml(tokenize(text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')));
  const after = parse({ path, text: laidOut });
  if (after.findings.length > 0 || !isDeepStrictEqual(after.document.value, document.value))
    throw new CommandError(`${path}: laying it out would change what it means, a fault of fmt; it is left as it is`);
  return laidOut;
}

/** The first line that is another one, from 1. */
function firstDifference(text: string, laidOut: string): number {
  const lines = laidOut.split('\n');
  return text.split('\n').findIndex((line, index) => line !== lines[index]) + 1 || lines.length;
}

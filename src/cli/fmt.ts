import { isDeepStrictEqual } from 'node:util';
import { parse, tokensOf } from '../manifest/document.ts';
import { layOut } from '../manifest/layout.ts';
import type { Source } from '../manifest/source.ts';
import { toProblems } from '../problem/problem.ts';
import { formatProblems } from './format.ts';
import { MANIFEST_OPTIONS, readManifests, readSource } from './manifest-file.ts';
import { type ExitCode, type Options, type Terminal, type Verb, WorkError } from './terminal.ts';
import { writeWhole } from './write-file.ts';

const OPTIONS = {
  check: { type: 'boolean', summary: 'write nothing, and fail when there is something to write' },
} as const satisfies Options;

export const fmt: Verb = {
  usage: 'signing-gateway fmt [FILE …] [--check]',
  options: { ...MANIFEST_OPTIONS, ...OPTIONS },
  examples: ['signing-gateway fmt', 'signing-gateway fmt --check gateway.yaml gateway.test.yaml'],
  async run(terminal) {
    const { files, given } = readManifests(terminal.args, OPTIONS);
    const codes = files.map((file) => fmtFile(readSource(file), given.has('check'), terminal));
    return codes.includes(1) ? 1 : 0;
  },
};

function fmtFile(source: Source, isCheck: boolean, { out, err, errColour }: Terminal): ExitCode {
  const { path, text } = source;
  const { document, findings } = parse(source);
  if (findings.length > 0) {
    err(formatProblems(toProblems(findings, document), text, errColour));
    return 1;
  }
  const unmarked = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const laidOut = layOut(tokensOf(unmarked));
  if (laidOut === text) return 0;
  const after = parse({ path, text: laidOut });
  if (after.findings.length > 0 || !isDeepStrictEqual(after.document.value, document.value))
    throw new WorkError(`${path}: laying it out would change what it means, a fault of fmt; it is left as it is`);
  if (isCheck) out(`${path}:${firstDifference(text, laidOut)} is not laid out as fmt does it\n`);
  else {
    writeWhole(path, laidOut);
    out(`${path}\n`);
  }
  return isCheck ? 1 : 0;
}

/** The first line that is another one, from 1. */
function firstDifference(text: string, laidOut: string): number {
  const lines = laidOut.split('\n');
  return text.split('\n').findIndex((line, index) => line !== lines[index]) + 1 || lines.length;
}

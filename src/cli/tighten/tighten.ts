import { load, type PlannedManifest } from '../../engine/load.ts';
import { createFileEnvironment } from '../../engine/manifest/file-environment.ts';
import { suggestion } from '../../engine/problem/did-you-mean.ts';
import { formatProblems } from '../../report/text.ts';
import { readLogs } from '../../traffic/access-log/read-logs.ts';
import { tighten as tightenManifest } from '../../traffic/tighten/tighten.ts';
import { usageNotes } from '../../traffic/tighten/tighten-notes.ts';
import { UsageCounter } from '../../traffic/tighten/usage.ts';
import { logInputs } from '../logs/log-inputs.ts';
import { showProgress } from '../logs/read-progress.ts';
import { formatSkippedLines } from '../logs/skipped-lines.ts';
import { readSource } from '../manifest-file.ts';
import { parseArguments, parseCount } from '../parse-arguments.ts';
import { type Options, type Terminal, UsageError, type Verb } from '../terminal.ts';
import { TIGHTEN_FORMATS } from './tighten-formats.ts';

const FORMAT_NAMES = Object.keys(TIGHTEN_FORMATS);

const OPTIONS = {
  format: {
    type: 'string',
    short: 'f',
    valueName: 'FORMAT',
    choices: FORMAT_NAMES,
    summary: 'pretty (default), json, markdown, or patch for git apply',
  },
  only: {
    type: 'string',
    multiple: true,
    valueName: 'ID',
    summary: 'only this proposal, with those that it needs; repeat it for several',
  },
  'min-requests': {
    type: 'string',
    valueName: 'N',
    summary: 'warn if the log has fewer allowed requests (default 1000)',
  },
  'min-days': { type: 'string', valueName: 'N', summary: 'warn if the log covers fewer days (default 7)' },
} as const satisfies Options;

export const tighten: Verb = {
  usage:
    'signing-gateway tighten LOG... MANIFEST [-f pretty|json|markdown|patch] [--only ID] [--min-requests N] [--min-days N]',
  options: OPTIONS,
  examples: [
    'signing-gateway tighten access.log gateway.yaml',
    'signing-gateway tighten access.log.2.gz access.log.1.gz gateway.yaml -f markdown',
    'signing-gateway tighten access.log gateway.yaml -f patch --only method/contacts | git apply',
    'kubectl logs deploy/gateway | signing-gateway tighten - gateway.yaml',
  ],
  async run(terminal) {
    const { logs, file, format, only, minimum } = parseTightenArguments(terminal.args);
    const inputs = logInputs(logs);
    const loaded = loadManifest(file, terminal);
    if (loaded === undefined) return 2;
    const { usage, counts } = await readUsage(inputs, loaded, terminal);
    const result = tightenManifest(loaded, usage, createFileEnvironment(file, terminal.env), only);
    if ('unknown' in result) {
      const [id = ''] = result.unknown;
      throw new UsageError(`no proposal has the id "${id}"${suggestion(id, result.known)}`);
    }
    const notes = usageNotes(usage, { minimum, counts, manifest: loaded.manifest, refusedToday: result.refusedToday });
    const report = { manifest: file, logs: inputs.map(({ name }) => name), usage, counts, result, notes };
    terminal.out(TIGHTEN_FORMATS[format](report, terminal.outColour));
    // A patch has no place for notes.
    if (format === 'patch') terminal.err(notes.map((note) => `note: ${note}\n`).join(''));
    terminal.err(formatSkippedLines(counts));
    return counts.failures.length > 0 ? 1 : 0;
  },
};

function parseTightenArguments(args: readonly string[]) {
  const { values, positionals } = parseArguments(args, OPTIONS);
  const file = positionals.at(-1);
  if (file === undefined || positionals.length < 2)
    throw new UsageError('name one log or more, and the manifest last: LOG... MANIFEST');
  const { format = 'pretty', only = [] } = values;
  if (!isFormat(format)) throw new UsageError(`unknown format "${format}"${suggestion(format, FORMAT_NAMES)}`);
  const minimum = {
    requests: parseCount('min-requests', values['min-requests'] ?? '1000'),
    days: parseCount('min-days', values['min-days'] ?? '7'),
  };
  return { logs: positionals.slice(0, -1), file, format, only, minimum };
}

function isFormat(name: string): name is keyof typeof TIGHTEN_FORMATS {
  return Object.hasOwn(TIGHTEN_FORMATS, name);
}

/** Prints the problems and returns `undefined` if the manifest has errors. */
function loadManifest(file: string, { env, err, errColour }: Terminal): PlannedManifest | undefined {
  if (file === '-') throw new UsageError('name the manifest last, as a file; "-" reads a log from the standard input');
  const loaded = load(readSource(file), createFileEnvironment(file, env));
  if (loaded.plan !== undefined) return loaded;
  err(formatProblems(loaded.problems, loaded.sources, errColour));
  return undefined;
}

async function readUsage(inputs: ReturnType<typeof logInputs>, loaded: PlannedManifest, terminal: Terminal) {
  const progress = showProgress(terminal);
  const counter = new UsageCounter(loaded);
  const logs = readLogs(inputs, progress.reading);
  for await (const batch of logs) {
    terminal.stop.throwIfAborted();
    for (const request of batch) counter.add(request);
  }
  progress.end();
  return { usage: counter.usage, counts: logs.counts };
}

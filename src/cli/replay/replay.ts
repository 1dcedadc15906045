import { readLogs } from '../../traffic/access-log/read-logs.ts';
import { createReplay, type Replay } from '../../traffic/replay/replay.ts';
import { FAIL_ON_WORDS, failuresOf, parseFailOn } from '../change-formats.ts';
import { loadRevision } from '../diff/revision.ts';
import { formatSkippedLines, logInputs, showProgress } from '../logs/log-inputs.ts';
import { formatOption, parseFormat, valueOption } from '../parse-arguments.ts';
import { CommandError, defineVerb, type Terminal, UsageError } from '../terminal.ts';
import { REPLAY_FORMATS } from './replay-formats.ts';
import { calibrationWarning, createReplaySummary } from './replay-summary.ts';

const DEFAULT_FAIL_ON = 'newly-refused,newly-allowed';
const NEVER = 'never';

export const verb = defineVerb({
  usage: 'signing-gateway replay LOG... --from OLD NEW [-f FORMAT] [--fail-on LIST]',
  options: {
    from: valueOption(
      'OLD',
      'the manifest that the gateway served when it wrote the logs: a file, or REVISION:PATH of git',
    ),
    format: formatOption(REPLAY_FORMATS, 'pretty (default), json, markdown for a pull request, sarif or junit'),
    'fail-on': valueOption('LIST', `exit with 1 if one of these occurs (default ${DEFAULT_FAIL_ON}), or never`, {
      starts: [...FAIL_ON_WORDS, NEVER],
    }),
  },
  examples: [
    'signing-gateway replay access.log --from main:gateway.yaml gateway.yaml',
    'signing-gateway replay host1/access.log host2/access.log.gz --from old.yaml new.yaml -f markdown > comment.md',
    "kubectl logs deploy/gateway | signing-gateway replay - --from old.yaml new.yaml --fail-on 'newly-refused,unknown>5%'",
  ],
  async run(terminal, { values, positionals }) {
    const { from: old } = values;
    if (old === undefined) throw new UsageError('name the manifest that wrote the logs: --from OLD');
    if (positionals.length < 2) throw new UsageError('name the logs, and after them the new manifest: LOG... NEW');
    const format = parseFormat(REPLAY_FORMATS, values.format);
    const failOnText = values['fail-on'] ?? DEFAULT_FAIL_ON;
    const failOn = failOnText === NEVER ? parseFailOn(undefined) : parseFailOn(failOnText);
    const logs = logInputs(positionals.slice(0, -1));
    const next = positionals.at(-1) ?? '';
    const before = loadRevision(old, terminal, 2).planned;
    const after = loadRevision(next, terminal, 2, before.plan).planned;
    const { report, counts } = await readAndReplay(logs, createReplay(before, after), terminal);
    terminal.err(formatSkippedLines(counts));
    if (report.lines === 0) throw new CommandError('the logs have no request; name access logs of the gateway');
    const summary = createReplaySummary(report, { old, next, logs: logs.map(({ name }) => name) });
    const failures = failuresOf(failOn, summary.counts);
    terminal.out(REPLAY_FORMATS[format]({ summary, failures, document: after.document }, terminal.outColour));
    const warning = calibrationWarning(summary);
    if (warning !== undefined) terminal.err(`signing-gateway: ${warning}\n`);
    for (const failure of failures) terminal.err(`signing-gateway: --fail-on ${failure}\n`);
    return failures.length > 0 || counts.failures.length > 0 ? 1 : 0;
  },
});

async function readAndReplay(logs: ReturnType<typeof logInputs>, replay: Replay, terminal: Terminal) {
  const progress = showProgress(terminal);
  const reader = readLogs(logs, progress.reading);
  for await (const requests of reader) for (const request of requests) replay.add(request);
  progress.end();
  return { report: replay.report(), counts: reader.counts };
}

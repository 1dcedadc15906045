import { createFileEnvironment } from '../engine/manifest/source.ts';
import { formatProblems, pluralize } from '../report/text.ts';
import { readLogs } from '../traffic/access-log/read-logs.ts';
import { loadWithoutEnvironment } from '../traffic/record/load-without-environment.ts';
import { recordCases } from '../traffic/record/record-cases.ts';
import { formatRecording, pluralizeRequests } from '../traffic/record/record-text.ts';
import { formatSkippedLines, logInputs } from './logs/log-inputs.ts';
import { showProgress } from './logs/read-progress.ts';
import { readSource } from './manifest-file.ts';
import { DEFAULT_MANIFEST } from './named-manifest.ts';
import { parseArguments, parseLimit, valueOption } from './parse-arguments.ts';
import type { Options, Verb } from './terminal.ts';

const OPTIONS = {
  manifest: valueOption('FILE', `the manifest that the cases test (default ${DEFAULT_MANIFEST})`, { short: 'c' }),
  max: valueOption('N', 'print at most N cases: one for each route first, then those of the most requests'),
} as const satisfies Options;

export const verb: Verb = {
  usage: 'signing-gateway record LOG... [--manifest FILE] [--max N]',
  options: OPTIONS,
  examples: [
    'signing-gateway record access.log > cases.yaml && signing-gateway test cases.yaml',
    'signing-gateway record access.log.2.gz access.log.1.gz --max 50',
    'kubectl logs deploy/gateway | signing-gateway record - --manifest gateway.yaml',
  ],
  async run(terminal) {
    const { args, out, err, errColour } = terminal;
    const { values, positionals } = parseArguments(args, OPTIONS);
    const path = values.manifest ?? DEFAULT_MANIFEST;
    const maxCases = parseLimit('max', values.max, Number.POSITIVE_INFINITY);
    const logs = logInputs(positionals);
    const { loaded, environment } = loadWithoutEnvironment(readSource(path), (env) => createFileEnvironment(path, env));
    if (loaded.plan === undefined) {
      err(formatProblems(loaded.problems, loaded.sources, errColour));
      return 1;
    }
    const progress = showProgress(terminal);
    const reader = readLogs(logs, progress.reading);
    const { readFile } = createFileEnvironment(path, environment);
    const recorded = await recordCases(reader, loaded, readFile, maxCases, progress.working('finding the test cases'));
    progress.end();
    err(formatSkippedLines(reader.counts));
    if (recorded.cases.length === 0) {
      err(`no test case was found for ${pluralizeRequests(recorded.requests)}; ${NO_CASE_REMEDY}\n`);
      return 1;
    }
    out(formatRecording({ ...recorded, manifest: path, environment }));
    const omitted = [...recorded.unrecorded.values()].reduce((sum, requests) => sum + requests, 0);
    const rest =
      omitted === 0
        ? ''
        : `; ${pluralizeRequests(omitted)} ${Math.round(omitted) === 1 ? 'has' : 'have'} none, see the end of the file`;
    err(
      `${pluralize(recorded.cases.length, 'test case')} for ${pluralizeRequests(recorded.requests - omitted)}${rest}\n`,
    );
    return reader.counts.failures.length === 0 ? 0 : 1;
  },
};

const NO_CASE_REMEDY = 'name a log of the gateway, and the manifest that it served';

import { createFileEnvironment, type Environment } from '../engine/manifest/source.ts';
import { pluralize } from '../report/text.ts';
import { readLogs } from '../traffic/access-log/read-logs.ts';
import { loadWithoutEnvironment } from '../traffic/record/load-without-environment.ts';
import { formatRecording, pluralizeRequests } from '../traffic/record/record-text.ts';
import { recordCases } from '../traffic/record/recorded-cases.ts';
import { formatSkippedLines, logInputs, showProgress } from './logs/log-inputs.ts';
import { readSource, requirePlan } from './manifest-file.ts';
import { DEFAULT_MANIFEST } from './named-manifest.ts';
import { parseLimit, valueOption } from './parse-arguments.ts';
import { defineVerb } from './terminal.ts';

export const verb = defineVerb({
  usage: 'signing-gateway record LOG... [--manifest FILE] [--max N]',
  options: {
    manifest: valueOption('FILE', `the manifest that the cases test (default ${DEFAULT_MANIFEST})`, { short: 'c' }),
    max: valueOption(
      'N',
      'print at most N cases: one for each route first, then those of the most requests; 0 prints all',
    ),
  },
  examples: [
    'signing-gateway record access.log > cases.yaml && signing-gateway test cases.yaml',
    'signing-gateway record access.log.2.gz access.log.1.gz --max 50',
    'kubectl logs deploy/gateway | signing-gateway record - --manifest gateway.yaml',
  ],
  async run(terminal, { values, positionals }) {
    const { out, err } = terminal;
    const path = values.manifest ?? DEFAULT_MANIFEST;
    const maxCases = parseLimit('max', values.max, Number.POSITIVE_INFINITY);
    const logs = logInputs(positionals);
    const create = (env: Environment['env']) => createFileEnvironment(path, env);
    const { loaded, environment } = loadWithoutEnvironment(readSource(path), create);
    const planned = requirePlan(loaded, terminal);
    const progress = showProgress(terminal);
    const reader = readLogs(logs, progress.reading);
    const { readFile } = createFileEnvironment(path, environment);
    const recorded = await recordCases(reader, planned, readFile, maxCases, progress.working('finding the test cases'));
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
});

const NO_CASE_REMEDY = 'name a log of the gateway, and the manifest that it served';

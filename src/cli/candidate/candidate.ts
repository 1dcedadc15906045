import { SENT_MANIFEST } from '../../admin/endpoints/candidate.ts';
import { readBytes, readUpToLimit } from '../../engine/manifest/source.ts';
import { durationMs } from '../../engine/manifest/units.ts';
import { suggestion } from '../../engine/problem/did-you-mean.ts';
import { printable } from '../../engine/problem/problem.ts';
import { formatRow, pluralize } from '../../report/text.ts';
import { FAIL_ON_WORDS, failuresOf, parseFailOn, UNKNOWN_CONDITION } from '../change-formats.ts';
import { readOrFail } from '../manifest-file.ts';
import { formatOption, parseCount, parseFormat, parseShare, valueOption } from '../parse-arguments.ts';
import {
  CommandError,
  defineVerb,
  type ExitCode,
  type Options,
  type OptionValues,
  type Terminal,
  UsageError,
} from '../terminal.ts';
import {
  type AdminClient,
  type CandidateBody,
  CONNECTION_OPTIONS,
  comparedCount,
  connect,
  countsOf,
  fetchStatus,
  foreignResponse,
  hasSavedProblem,
  statusOf,
} from './admin-client.ts';
import { CANDIDATE_FORMATS, problemRow } from './candidate-formats.ts';
import { waitForRequests } from './wait.ts';

const ACTION_OPTIONS = {
  sample: valueOption('SHARE', 'put: the share of the requests to compare, above 0 and at most 1 (default 1)'),
  requests: valueOption('COUNT', 'wait: until this number of requests was compared'),
  for: valueOption('DURATION', 'wait: at most this time, for example 10m'),
  'fail-on': valueOption(
    'LIST',
    `wait, status: exit with 1 if one of these occurred: ${FAIL_ON_WORDS.join(',')},${UNKNOWN_CONDITION}`,
    { starts: FAIL_ON_WORDS },
  ),
  format: formatOption(CANDIDATE_FORMATS, 'pretty (default), json, or markdown for a pull request'),
} as const satisfies Options;

const OPTIONS = { ...CONNECTION_OPTIONS, ...ACTION_OPTIONS } as const satisfies Options;

type CandidateOptions = OptionValues<typeof OPTIONS>;

interface Action {
  /** The options of this action, without those for the connection. */
  readonly options: readonly (keyof typeof ACTION_OPTIONS)[];
  /** The name of its argument; `undefined` if it takes none. */
  readonly argument?: string;
  readonly run: (options: CandidateOptions, argument: string, terminal: Terminal) => Promise<ExitCode>;
}

const ACTIONS: Readonly<Record<string, Action>> = {
  status: { options: ['fail-on', 'format'], run: showStatus },
  wait: { options: ['requests', 'for', 'fail-on', 'format'], run: waitForCandidate },
  put: { options: ['sample', 'format'], argument: 'FILE', run: putCandidate },
  delete: { options: [], run: discardCandidate },
};

export const verb = defineVerb({
  usage: `signing-gateway candidate ${Object.keys(ACTIONS).join('|')} [FILE] [-c MANIFEST | --url URL] [-f ${Object.keys(CANDIDATE_FORMATS).join('|')}]`,
  options: OPTIONS,
  choices: Object.keys(ACTIONS),
  examples: [
    'signing-gateway candidate put next.yaml',
    'signing-gateway candidate status',
    'signing-gateway candidate wait --requests 10000 --for 10m --fail-on newly-refused,newly-allowed',
    'signing-gateway candidate status --url https://gateway.internal:9901 -f markdown > comment.md',
    'signing-gateway candidate delete',
  ],
  async run(terminal, { values, positionals }) {
    const [name = '', ...more] = positionals;
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (action === undefined) throw unknownAction(name);
    checkArguments(name, action, values, more);
    return action.run(values, more[0] ?? '', terminal);
  },
});

function unknownAction(name: string): UsageError {
  const names = Object.keys(ACTIONS);
  return new UsageError(
    name === ''
      ? `name one of ${names.join(', ')}`
      : `unknown word "${name}"${suggestion(name, names) || `; write one of ${names.join(', ')}`}`,
  );
}

function checkArguments(name: string, action: Action, values: CandidateOptions, positionals: readonly string[]): void {
  const { options, argument } = action;
  const allowed: readonly string[] = [...Object.keys(CONNECTION_OPTIONS), ...options];
  const wrong = Object.keys(values).find((option) => !allowed.includes(option));
  if (wrong !== undefined) throw new UsageError(`"candidate ${name}" has no option --${wrong}; remove it`);
  if (argument === undefined && positionals.length > 0)
    throw new UsageError(`unexpected argument "${positionals[0]}"; remove it`);
  if (argument !== undefined && positionals.length !== 1)
    throw new UsageError(`name one ${argument}: signing-gateway candidate ${name} ${argument}`);
}

export async function showStatus(options: CandidateOptions, _file: string, terminal: Terminal): Promise<ExitCode> {
  const [format, failOn] = [formatOf(options), parseFailOn(options['fail-on'])];
  const status = await fetchStatus(connect(options, terminal));
  terminal.out(format(status, terminal.outColour));
  return report(failuresOf(failOn, countsOf(status)), terminal);
}

export async function waitForCandidate(
  options: CandidateOptions,
  _file: string,
  terminal: Terminal,
): Promise<ExitCode> {
  const { requests, for: time } = options;
  if (requests === undefined && time === undefined)
    throw new UsageError('"candidate wait" needs an end; write --requests COUNT, --for DURATION, or both');
  const limits = {
    requests: requests === undefined ? undefined : parseCount('requests', requests),
    forMs: time === undefined ? undefined : parseTime(time),
    failOn: parseFailOn(options['fail-on']),
  };
  const format = formatOf(options);
  const { status, failures, isTimeOver } = await waitForRequests(connect(options, terminal), limits, terminal);
  terminal.out(format(status, terminal.outColour));
  if (failures.length > 0) return report(failures, terminal);
  if (hasSavedProblem(status)) return 1;
  const compared = comparedCount(status);
  // Without a comparison there is no result, and a pipeline must not take it for a good one.
  if (compared === 0 && requests !== '0')
    throw new CommandError(`no request was compared within ${time}; send requests to the gateway, or wait longer`);
  if (isTimeOver && limits.requests !== undefined)
    terminal.err(
      `signing-gateway: the time is over: ${compared} of ${pluralize(limits.requests, 'request')} compared\n`,
    );
  return 0;
}

/** Sends a manifest as the candidate. Prints its problems if the gateway rejects it. */
export async function putCandidate(options: CandidateOptions, file: string, terminal: Terminal): Promise<ExitCode> {
  const [format, sample] = [formatOf(options), parseShare('sample', options.sample)];
  const bytes = readManifestBytes(file);
  const client = connect(options, terminal);
  const reply = await client.request('PUT', `/-/candidate?sample=${sample}`, bytes);
  if (reply.status !== 422) {
    terminal.out(format(acceptedStatus(reply, client), terminal.outColour));
    return 0;
  }
  const { problems } = reply.body as unknown as Pick<CandidateBody, 'problems'>;
  if (!Array.isArray(problems)) throw foreignResponse(client.url, reply.status);
  const named = problems.map((problem) => ({ ...problem, file: problem.file === SENT_MANIFEST ? file : problem.file }));
  terminal.err(named.map((problem) => formatRow(problemRow(problem), terminal.errColour)).join('\n'));
  return 1;
}

export async function discardCandidate(
  options: CandidateOptions,
  _file: string,
  terminal: Terminal,
): Promise<ExitCode> {
  const client = connect(options, terminal);
  const before = await fetchStatus(client);
  acceptedStatus(await client.request('DELETE', '/-/candidate'), client);
  terminal.out(before.state === 'none' ? 'there was no candidate\n' : 'the candidate is discarded\n');
  return 0;
}

/** Returns the report of a response. Throws a `CommandError` with the reason if the gateway refuses the request. */
function acceptedStatus(reply: Awaited<ReturnType<AdminClient['request']>>, client: AdminClient): CandidateBody {
  const { detail } = reply.body;
  if (reply.status >= 400 && reply.status !== 404 && typeof detail === 'string')
    throw new CommandError(printable(detail));
  return statusOf(reply, client);
}

function report(failures: readonly string[], { err }: Terminal): ExitCode {
  for (const failure of failures) err(`signing-gateway: --fail-on ${failure}\n`);
  return failures.length === 0 ? 0 : 1;
}

const STANDARD_INPUT = 0;

function readManifestBytes(file: string): Buffer {
  return readOrFail(file, 'name the manifest that you want to try', () =>
    file === '-' ? readUpToLimit(STANDARD_INPUT, 0, '<stdin>') : readBytes(file),
  );
}

function formatOf({ format }: CandidateOptions) {
  return CANDIDATE_FORMATS[parseFormat(CANDIDATE_FORMATS, format)];
}

function parseTime(text: string): number {
  if (!/^[1-9]\d{0,5}(?:ms|s|m|h)$/.test(text))
    throw new UsageError(`--for ${text}: write a duration, for example 30s, 10m or 2h`);
  return durationMs(text);
}

import { suggestion } from '../../engine/problem/did-you-mean.ts';
import { FAIL_ON_WORDS, UNKNOWN_CONDITION } from '../fail-on.ts';
import { DEFAULT_MANIFEST } from '../manifest-file.ts';
import { parseArguments } from '../parse-arguments.ts';
import { type ExitCode, type Options, type Terminal, UsageError, type Verb } from '../terminal.ts';
import { discardCandidate, putCandidate, showStatus, waitForCandidate } from './actions.ts';
import { TOKEN_VARIABLE } from './admin-client.ts';
import { CANDIDATE_FORMATS } from './candidate-formats.ts';

const OPTIONS = {
  url: {
    type: 'string',
    valueName: 'URL',
    summary: 'the admin API; by default that of the manifest, on this machine',
  },
  token: {
    type: 'string',
    valueName: 'TOKEN',
    summary: `the token of the admin API; better set ${TOKEN_VARIABLE}, which other users cannot see (default: that of the manifest)`,
  },
  config: {
    type: 'string',
    short: 'c',
    valueName: 'FILE',
    summary: `the manifest that names the admin API (default ${DEFAULT_MANIFEST})`,
  },
  sample: {
    type: 'string',
    valueName: 'SHARE',
    summary: 'put: the share of the requests to compare, above 0 and at most 1 (default 1)',
  },
  requests: { type: 'string', valueName: 'COUNT', summary: 'wait: until this number of requests was compared' },
  for: { type: 'string', valueName: 'DURATION', summary: 'wait: at most this time, for example 10m' },
  'fail-on': {
    type: 'string',
    valueName: 'LIST',
    starts: FAIL_ON_WORDS,
    summary: `wait, status: exit with 1 if one of these occurred: ${FAIL_ON_WORDS.join(',')},${UNKNOWN_CONDITION}`,
  },
  format: {
    type: 'string',
    short: 'f',
    valueName: 'FORMAT',
    choices: Object.keys(CANDIDATE_FORMATS),
    summary: 'pretty (default), json, or markdown for a pull request',
  },
} as const satisfies Options;

type OptionName = keyof typeof OPTIONS;

/** The values of the options. */
export type CandidateOptions = Readonly<Partial<Record<OptionName, string>>>;

interface Action {
  /** The options of this action, without those for the connection. */
  readonly options: readonly OptionName[];
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

const CONNECTION_OPTIONS: readonly string[] = ['url', 'token', 'config'] satisfies OptionName[];

export const candidate: Verb = {
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
  async run(terminal) {
    const { values, positionals } = parseArguments(terminal.args, OPTIONS);
    const [name = '', ...more] = positionals;
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (action === undefined) throw unknownAction(name);
    checkArguments(name, action, values, more);
    return action.run(values, more[0] ?? '', terminal);
  },
};

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
  const allowed = [...CONNECTION_OPTIONS, ...options];
  const wrong = Object.keys(values).find((option) => !allowed.includes(option));
  if (wrong !== undefined) throw new UsageError(`"candidate ${name}" has no option --${wrong}; remove it`);
  if (argument === undefined && positionals.length > 0)
    throw new UsageError(`unexpected argument "${positionals[0]}"; remove it`);
  if (argument !== undefined && positionals.length !== 1)
    throw new UsageError(`name one ${argument}: signing-gateway candidate ${name} ${argument}`);
}

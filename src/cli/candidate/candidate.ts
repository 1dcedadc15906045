import { suggestion } from '../../engine/problem/did-you-mean.ts';
import { parseArguments } from '../parse-arguments.ts';
import { type ExitCode, type Options, type Terminal, UsageError, type Verb } from '../terminal.ts';
import {
  ACTION_OPTIONS,
  type CandidateOptions,
  discardCandidate,
  putCandidate,
  showStatus,
  waitForCandidate,
} from './actions.ts';
import { CANDIDATE_FORMATS } from './candidate-formats.ts';
import { CONNECTION_OPTIONS } from './connect.ts';

const OPTIONS = { ...CONNECTION_OPTIONS, ...ACTION_OPTIONS } as const satisfies Options;

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

export const verb: Verb = {
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
  const allowed: readonly string[] = [...Object.keys(CONNECTION_OPTIONS), ...options];
  const wrong = Object.keys(values).find((option) => !allowed.includes(option));
  if (wrong !== undefined) throw new UsageError(`"candidate ${name}" has no option --${wrong}; remove it`);
  if (argument === undefined && positionals.length > 0)
    throw new UsageError(`unexpected argument "${positionals[0]}"; remove it`);
  if (argument !== undefined && positionals.length !== 1)
    throw new UsageError(`name one ${argument}: signing-gateway candidate ${name} ${argument}`);
}

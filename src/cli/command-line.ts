import { suggestion } from '../engine/problem/did-you-mean.ts';
import { parseArguments } from './parse-arguments.ts';
import {
  CommandError,
  type ExitCode,
  InvalidFileError,
  type Options,
  type Terminal,
  UsageError,
  type Verb,
  type VerbTable,
} from './terminal.ts';
import { version } from './version.ts';

/** Each verb by its name. Only the verb that runs is loaded: linting a manifest needs no server. */
const VERBS: VerbTable = {
  run: { summary: 'serve a manifest and reload it when its files change', load: () => import('./run/run.ts') },
  dev: {
    summary: 'serve a manifest with local stand-ins for its upstream services',
    load: () => import('./dev/dev.ts'),
  },
  health: { summary: 'check whether a running gateway is ready or alive', load: () => import('./health/health.ts') },
  lint: { summary: 'check a manifest for problems', load: () => import('./lint/lint.ts') },
  explain: { summary: 'show how the gateway handles a request, offline', load: () => import('./explain/explain.ts') },
  prove: {
    summary: 'prove that all requests meet a requirement, or show one that does not',
    load: () => import('./prove/prove.ts'),
  },
  test: { summary: 'run the tests in a file against a manifest, offline', load: () => import('./test/test.ts') },
  diff: { summary: 'compare how two manifests behave', load: () => import('./diff/diff.ts') },
  record: { summary: 'write a test file with the requests of an access log', load: () => import('./record.ts') },
  candidate: {
    summary: 'compare a changed manifest with the active one on live traffic',
    load: () => import('./candidate/candidate.ts'),
  },
  replay: {
    summary: 'compare how two manifests decide about the requests of an access log',
    load: () => import('./replay/replay.ts'),
  },
  surrogate: {
    summary: 'print a path with the surrogates of the access log, to find its lines',
    load: () => import('./surrogate.ts'),
  },
  routes: { summary: 'print the route table', load: () => import('./routes/routes.ts') },
  import: { summary: 'make routes from an OpenAPI document', load: () => import('./import/import.ts') },
  drift: { summary: 'compare an OpenAPI document with the routes of a manifest', load: () => import('./drift.ts') },
  openapi: { summary: 'describe the routes as an OpenAPI document', load: () => import('./openapi.ts') },
  init: { summary: 'create a starter manifest and a test file for it', load: () => import('./init/init.ts') },
  schema: { summary: 'print the JSON Schema of the manifest', load: () => import('./schema.ts') },
  fmt: { summary: 'format a manifest and keep its comments', load: () => import('./fmt.ts') },
  lsp: { summary: 'serve an editor: problems, completion and renaming', load: () => import('./lsp.ts') },
  completion: {
    summary: 'print a completion script for a shell',
    load: async () => ({ verb: (await import('./completion/completion.ts')).createCompletionVerb(VERBS) }),
  },
};

/** Runs the verb that the arguments name. */
export async function main(argv: readonly string[], terminal: Terminal): Promise<ExitCode> {
  // `help lint` is `lint --help`.
  const [name = '', ...args] = argv[0] === 'help' && argv.length > 1 ? [...argv.slice(1), '--help'] : argv;
  const print = (text: string) => {
    terminal.out(text);
    return 0 as const;
  };
  const fail = (message: string, more = '') => {
    terminal.err(`signing-gateway: ${message}\n${more}`);
    return 2 as const;
  };
  const helpHint = (command = '') => `Run "signing-gateway ${command}--help" for the usage.\n`;
  if (name === '--version' || name === '-v') return print(`${version}\n`);
  if (name === '--help' || name === '-h' || name === 'help') return print(formatHelp());
  if (name === '') return fail('name a command', `\n${formatHelp()}`);
  if (name.startsWith('-'))
    return fail(`unknown option "${name}"${suggestion(name, ['--help', '--version'])}`, helpHint());
  const entry = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (entry === undefined) return fail(`unknown command "${name}"${suggestion(name, Object.keys(VERBS))}`, helpHint());
  const { verb } = await entry.load();
  if (args.includes('--help') || args.includes('-h')) return print(formatUsage(verb, entry.summary));
  try {
    return await verb.run(terminal, parseArguments(args, verb.options, verb.choices?.length !== 0));
  } catch (error) {
    if (error instanceof UsageError) return fail(error.message, helpHint(`${name} `));
    if (!(error instanceof CommandError)) throw error;
    terminal.err(`${error instanceof InvalidFileError ? '' : 'signing-gateway: '}${error.message}\n`);
    return error.code;
  }
}

function formatHelp(): string {
  const width = Math.max(...Object.keys(VERBS).map(({ length }) => length));
  const verbs = Object.entries(VERBS).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return `${[
    'A declarative API gateway, configured by one YAML manifest',
    '',
    'Usage: signing-gateway COMMAND [OPTIONS]',
    '',
    'Commands:',
    ...verbs,
    '',
    'Options:',
    '  -h, --help     print this help',
    '  -v, --version  print the version',
    '',
    'Exit codes: 0 success, 1 problems found, 2 wrong usage or the command failed',
    '',
    'Run "signing-gateway COMMAND --help" for the options and examples of a command.',
  ].join('\n')}\n`;
}

const HELP: Options = { help: { type: 'boolean', short: 'h', summary: 'print this help' } };

/** Returns the text that `VERB --help` prints. */
function formatUsage({ usage, options, examples }: Verb, summary: string): string {
  return [
    `Usage: ${usage}\n`,
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}\n`,
    `Options:\n${formatOptions({ ...options, ...HELP })}`,
    `Examples:\n${examples.map((example) => `  ${example}\n`).join('')}`,
  ].join('\n');
}

function formatOptions(options: Options): string {
  const rows = Object.entries(options).map(([name, option]) => ({
    flags: formatFlags(name, option),
    summary: option.summary,
  }));
  const width = Math.max(...rows.map(({ flags }) => flags.length));
  return rows.map(({ flags, summary }) => `  ${flags.padEnd(width)}  ${summary}\n`).join('');
}

function formatFlags(name: string, { short, valueName }: Options[string]): string {
  return `${short === undefined ? '    ' : `-${short}, `}--${name}${valueName === undefined ? '' : ` ${valueName}`}`;
}

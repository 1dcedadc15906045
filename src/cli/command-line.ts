import { suggestion } from '../engine/problem/did-you-mean.ts';
import { CommandError, type ExitCode, type Terminal, UsageError, type Verb } from './terminal.ts';
import { formatUsage } from './usage.ts';
import { version } from './version.ts';

interface VerbEntry {
  readonly summary: string;
  /** Imports the verb. Only the verb that runs is loaded: linting a manifest needs no server. */
  readonly load: () => Promise<Verb>;
}

const VERBS: Readonly<Record<string, VerbEntry>> = {
  run: {
    summary: 'serve a manifest and reload it when its files change',
    load: async () => (await import('./run/run.ts')).run,
  },
  dev: {
    summary: 'serve a manifest with local stand-ins for its upstream services',
    load: async () => (await import('./dev/dev.ts')).dev,
  },
  health: {
    summary: 'check whether a running gateway is ready or alive',
    load: async () => (await import('./health/health.ts')).health,
  },
  lint: { summary: 'check a manifest for problems', load: async () => (await import('./lint/lint.ts')).lint },
  explain: {
    summary: 'show how the gateway handles a request, offline',
    load: async () => (await import('./explain/explain.ts')).explain,
  },
  prove: {
    summary: 'prove that all requests meet a requirement, or show one that does not',
    load: async () => (await import('./prove/prove.ts')).prove,
  },
  test: {
    summary: 'run the tests in a file against a manifest, offline',
    load: async () => (await import('./test/test.ts')).test,
  },
  diff: {
    summary: 'compare how two manifests behave',
    load: async () => (await import('./diff/diff.ts')).diff,
  },
  record: {
    summary: 'write a test file with the requests of an access log',
    load: async () => (await import('./record.ts')).record,
  },
  candidate: {
    summary: 'compare a changed manifest with the active one on live traffic',
    load: async () => (await import('./candidate/candidate.ts')).candidate,
  },
  replay: {
    summary: 'compare how two manifests decide about the requests of an access log',
    load: async () => (await import('./replay/replay.ts')).replay,
  },
  surrogate: {
    summary: 'print a path with the surrogates of the access log, to find its lines',
    load: async () => (await import('./surrogate.ts')).surrogate,
  },
  routes: { summary: 'print the route table', load: async () => (await import('./routes.ts')).routes },
  import: {
    summary: 'make routes from an OpenAPI document',
    load: async () => (await import('./import/import.ts')).importVerb,
  },
  drift: {
    summary: 'compare an OpenAPI document with the routes of a manifest',
    load: async () => (await import('./drift.ts')).drift,
  },
  openapi: {
    summary: 'describe the routes as an OpenAPI document',
    load: async () => (await import('./openapi.ts')).openapi,
  },
  init: {
    summary: 'create a starter manifest and a test file for it',
    load: async () => (await import('./init/init.ts')).init,
  },
  schema: {
    summary: 'print the JSON Schema of the manifest',
    load: async () => (await import('./schema.ts')).schema,
  },
  fmt: { summary: 'format a manifest and keep its comments', load: async () => (await import('./fmt.ts')).fmt },
  lsp: {
    summary: 'serve an editor: problems, completion and renaming',
    load: async () => (await import('./lsp.ts')).lsp,
  },
  completion: {
    summary: 'print a completion script for a shell',
    load: async () => (await import('./completion/completion.ts')).createCompletionVerb(VERBS),
  },
};

/**
 * Runs the verb that the arguments name.
 *
 * @param createTerminal returns the terminal for a verb with these arguments
 */
export async function main(
  argv: readonly string[],
  createTerminal: (args: readonly string[]) => Terminal,
): Promise<ExitCode> {
  // `help lint` is `lint --help`.
  const [name = '', ...args] = argv[0] === 'help' && argv.length > 1 ? [...argv.slice(1), '--help'] : argv;
  const terminal = createTerminal(args);
  const print = (text: string): ExitCode => {
    terminal.out(text);
    return 0;
  };
  const fail = (message: string, more = ''): ExitCode => {
    terminal.err(`signing-gateway: ${message}\n${more}`);
    return 2;
  };
  const helpHint = (command = '') => `Run "signing-gateway ${command}--help" for the usage.\n`;
  if (name === '--version' || name === '-v') return print(`${version}\n`);
  if (name === '--help' || name === '-h' || name === 'help') return print(formatHelp());
  if (name === '') return fail('name a command', `\n${formatHelp()}`);
  if (name.startsWith('-'))
    return fail(`unknown option "${name}"${suggestion(name, ['--help', '--version'])}`, helpHint());
  const entry = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (entry === undefined) return fail(`unknown command "${name}"${suggestion(name, Object.keys(VERBS))}`, helpHint());
  const verb = await entry.load();
  if (args.includes('--help') || args.includes('-h')) return print(formatUsage(verb, entry.summary));
  try {
    return await verb.run(terminal);
  } catch (error) {
    if (error instanceof CommandError) return fail(error.message);
    if (error instanceof UsageError) return fail(error.message, helpHint(`${name} `));
    throw error;
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

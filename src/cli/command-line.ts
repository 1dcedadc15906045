import { suggestion } from '../problem/did-you-mean.ts';
import { CommandError, type ExitCode, type Terminal, UsageError, type Verb } from './terminal.ts';
import { formatUsage } from './usage.ts';
import { version } from './version.ts';

interface VerbEntry {
  readonly summary: string;
  /** Each verb is loaded when it is called: checking a manifest needs no server. */
  readonly load: () => Promise<Verb>;
}

const VERBS: Readonly<Record<string, VerbEntry>> = {
  run: {
    summary: 'serve a manifest, and reload it when the file changes',
    load: async () => (await import('./run/run.ts')).run,
  },
  dev: {
    summary: 'serve a manifest in front of the sandbox, a local stand-in for the upstream services',
    load: async () => (await import('./dev/dev.ts')).dev,
  },
  health: {
    summary: 'ask a running gateway how it is, for a probe',
    load: async () => (await import('./health/health.ts')).health,
  },
  lint: { summary: 'check a manifest without serving it', load: async () => (await import('./lint/lint.ts')).lint },
  explain: {
    summary: 'tell what becomes of a request and why, without a network',
    load: async () => (await import('./explain/explain.ts')).explain,
  },
  test: {
    summary: 'ask a manifest what a test file asks, without a network, and hold it to what is expected',
    load: async () => (await import('./test/test.ts')).test,
  },
  diff: {
    summary: 'tell what differs between two manifests, by what it means',
    load: async () => (await import('./diff/diff.ts')).diff,
  },
  routes: { summary: 'print the compiled table of routes', load: async () => (await import('./routes.ts')).routes },
  init: {
    summary: 'write a first manifest, and tests of it',
    load: async () => (await import('./init/init.ts')).init,
  },
  schema: { summary: "print the manifest's JSON Schema", load: async () => (await import('./schema.ts')).schema },
  fmt: { summary: 'lay a manifest out, comments kept', load: async () => (await import('./fmt.ts')).fmt },
  completion: {
    summary: "print a shell's completion of this command",
    load: async () => (await import('./completion/completion.ts')).createCompletionVerb(VERBS),
  },
};

/**
 * Runs the verb that the arguments name.
 *
 * @param terminalOf what the process gives a verb with these arguments
 */
export async function main(
  argv: readonly string[],
  terminalOf: (args: readonly string[]) => Terminal,
): Promise<ExitCode> {
  const [name = '', ...args] = argv;
  const terminal = terminalOf(args);
  const say = (text: string): ExitCode => {
    terminal.out(text);
    return 0;
  };
  const complain = (message: string, usage = ''): ExitCode => {
    terminal.err(`signing-gateway: ${message}\n${usage === '' ? '' : `\n${usage}`}`);
    return 2;
  };
  if (name === '--version' || name === '-v') return say(`${version}\n`);
  if (name === '--help' || name === '-h' || name === 'help') return say(help());
  const entry = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (entry === undefined)
    return complain(
      name === '' ? 'name a verb' : `there is no verb "${name}"${suggestion(name, Object.keys(VERBS))}`,
      help(),
    );
  const verb = await entry.load();
  const usage = formatUsage(verb, entry.summary);
  if (args.includes('--help') || args.includes('-h')) return say(usage);
  try {
    return await verb.run(terminal);
  } catch (error) {
    if (error instanceof CommandError) return complain(error.message);
    if (error instanceof UsageError || isArgumentError(error)) return complain((error as Error).message, usage);
    throw error;
  }
}

function isArgumentError(error: unknown): boolean {
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}

function help(): string {
  const width = Math.max(...Object.keys(VERBS).map(({ length }) => length));
  const verbs = Object.entries(VERBS).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return `${[
    'A declarative API gateway: one YAML manifest, checked, compiled and served.',
    '',
    'Usage: signing-gateway VERB [OPTIONS]',
    '',
    ...verbs,
    '',
    '  VERB --help shows its options and examples; --version prints the version.',
    '  Exit codes: 0 clean, 1 problems found, 2 wrong usage or the work could not be done.',
  ].join('\n')}\n`;
}

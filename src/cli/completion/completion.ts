import { suggestion } from '../../problem/did-you-mean.ts';
import { parseArguments } from '../parse-arguments.ts';
import { UsageError, type Verb } from '../terminal.ts';
import type { CompletionVerb } from './completion-script.ts';
import { SHELLS } from './shells.ts';

const NAMES = Object.keys(SHELLS) as (keyof typeof SHELLS)[];

/** The verbs of the command line by name, as `command-line.ts` lists them. */
type VerbTable = Readonly<Record<string, { readonly summary: string; readonly load: () => Promise<Verb> }>>;

/**
 * Creates the verb that prints a completion script for these verbs, including itself.
 *
 * The scripts are our own because they are static: those of @bomb.sh/tab 0.0.22, for example, start the program at every press
 * of the Tab key.
 */
export function createCompletionVerb(verbs: VerbTable): Verb {
  return {
    usage: `signing-gateway completion ${NAMES.join('|')}`,
    choices: NAMES,
    examples: ['source <(signing-gateway completion bash)', 'signing-gateway completion fish | source'],
    async run({ args, out }) {
      const { positionals } = parseArguments({ args: [...args], allowPositionals: true });
      const shell = parseShell(positionals);
      const entries = Object.entries(verbs).map(async ([name, { summary, load }]): Promise<CompletionVerb> => {
        const { options = {}, choices } = await load();
        return choices === undefined ? { name, summary, options } : { name, summary, options, choices };
      });
      out(SHELLS[shell](await Promise.all(entries)));
      return 0;
    },
  };
}

function parseShell([name = '', ...others]: readonly string[]): keyof typeof SHELLS {
  if (name === '' || others.length > 0) throw new UsageError(`name one shell: ${NAMES.join(', ')}`);
  const shell = NAMES.find((candidate) => candidate === name);
  if (shell === undefined) throw new UsageError(`unknown shell "${name}"${suggestion(name, NAMES)}`);
  return shell;
}

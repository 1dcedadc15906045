import { parseArgs } from 'node:util';
import { suggestion } from '../../problem/did-you-mean.ts';
import { UsageError, type Verb } from '../terminal.ts';
import { SHELLS } from './shells.ts';

const NAMES = Object.keys(SHELLS) as (keyof typeof SHELLS)[];

/** The verbs of the command line by their names, as `command-line.ts` lists them. */
type Verbs = Readonly<Record<string, { readonly summary: string; readonly load: () => Promise<Verb> }>>;

/** The verb that prints a shell's completion of these verbs, itself among them. */
export function createCompletionVerb(verbs: Verbs): Verb {
  return {
    usage: `signing-gateway completion ${NAMES.join('|')}`,
    choices: NAMES,
    examples: ['source <(signing-gateway completion bash)', 'signing-gateway completion fish | source'],
    async run({ args, out }) {
      const { positionals } = parseArgs({ args: [...args], allowPositionals: true });
      const [word = ''] = positionals;
      const shell = NAMES.find((name) => name === word);
      if (shell === undefined || positionals.length > 1)
        throw new UsageError(
          word === '' ? `name a shell: ${NAMES.join(', ')}` : `there is no shell "${word}"${suggestion(word, NAMES)}`,
        );
      const told = Object.entries(verbs).map(async ([name, { summary, load }]) => {
        const { options = {}, choices: words } = await load();
        return { name, summary, options, ...(words && { words }) };
      });
      out(SHELLS[shell](await Promise.all(told)));
      return 0;
    },
  };
}

import { tokenEntries } from '../../engine/tokens/token-entries.ts';
import { callerOfRole } from '../../prove/offline/role-claims.ts';
import { loadFile } from '../manifest-file.ts';
import { chooseManifest } from '../named-manifest.ts';
import { parseChoice, valueOption } from '../parse-arguments.ts';
import { CommandError, defineVerb, type Terminal, UsageError, type VerbTable } from '../terminal.ts';
import { bash, type CompletionScript, type CompletionVerb, fish, zsh } from './scripts.ts';

export const SHELLS = { bash, zsh, fish } as const satisfies Record<string, CompletionScript>;

const WORDS = ['roles', 'claims', 'issuers'] as const;

const NAMES = Object.keys(SHELLS) as (keyof typeof SHELLS)[];

/**
 * Creates the verb that prints a completion script for these verbs, including itself. The scripts are our own: those of @bomb.sh/tab
 * 0.0.22, for example, start the program at every press of the Tab key.
 */
export function createCompletionVerb(verbs: VerbTable) {
  return defineVerb({
    usage: `signing-gateway completion ${NAMES.join('|')} | --words ${WORDS.join('|')} [FILE]`,
    options: {
      words: valueOption(
        'KIND',
        'print words of a manifest, one per line: the roles of its routes, or the claims of each role',
        { choices: WORDS },
      ),
    },
    choices: NAMES,
    examples: ['source <(signing-gateway completion bash)', 'signing-gateway completion fish | source'],
    async run(terminal, { values, positionals }) {
      if (values.words !== undefined) {
        const kind = parseChoice('kind of words', values.words, WORDS, 'roles');
        terminal.out(
          wordsOf(kind, chooseManifest(positionals), terminal)
            .map((word) => `${word}\n`)
            .join(''),
        );
        return 0;
      }
      const shell = parseShell(positionals);
      const entries = Object.entries(verbs).map(async ([name, { summary, load }]): Promise<CompletionVerb> => {
        const { options, choices } = (await load()).verb;
        return choices === undefined ? { name, summary, options } : { name, summary, options, choices };
      });
      terminal.out(SHELLS[shell](await Promise.all(entries)));
      return 0;
    },
  });
}

function parseShell([name = '', ...others]: readonly string[]): keyof typeof SHELLS {
  if (name === '' || others.length > 0) throw new UsageError(`name one shell: ${NAMES.join(', ')}`);
  return parseChoice('shell', name, NAMES, 'bash');
}

/** Returns the token methods of a manifest, the roles that its routes allow, or the claims of each. Roles from the environment are secret. */
function wordsOf(kind: (typeof WORDS)[number], file: string, { env }: Terminal): string[] {
  const loaded = loadFile(file, env);
  if (loaded.plan === undefined) throw new CommandError(`${file} has errors; see: signing-gateway lint ${file}`);
  const { plan, manifest } = loaded;
  if (kind === 'issuers') return tokenEntries(manifest.auth).flatMap(({ name }) => name ?? []);
  const all = plan.routes.flatMap(({ auth }) => auth?.role.redactedRoles ?? []);
  const roles = [...new Set(all)].filter((role) => !role.includes('${'));
  return roles.map((role) => (kind === 'roles' ? role : JSON.stringify(callerOfRole(manifest, role).claims)));
}

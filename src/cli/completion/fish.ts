import type { Option } from '../terminal.ts';
import { COMMAND, type CompletionScript, type CompletionVerb, WORDS_COMMAND } from './completion-script.ts';

/** Prints words of the manifest that the command line names. */
const WORDS_FUNCTION = `function __signing_gateway_words
    set -l files (string match -r '.*\\.ya?ml$' -- (commandline -opc))
    ${COMMAND} ${WORDS_COMMAND} $argv[1] $files[-1] 2>/dev/null
end`;

/** Fish completes file names by itself unless `-f` or `-x` turns this off. */
export const fish: CompletionScript = (verbs) =>
  [
    `# fish completion of ${COMMAND}; in config.fish: ${COMMAND} completion fish | source`,
    WORDS_FUNCTION,
    ...verbs.map(
      ({ name, summary }) => `complete -c ${COMMAND} -f -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`,
    ),
    ...verbs.flatMap(linesOf),
    `complete -c ${COMMAND} -l help -d 'show options and examples'`,
    '',
  ].join('\n');

function linesOf({ name, options, choices }: CompletionVerb): string[] {
  const start = `complete -c ${COMMAND} -n '__fish_seen_subcommand_from ${name}'`;
  const lines = Object.entries(options).map((entry) => `${start} ${optionOf(entry)}`);
  // The arguments before the cursor are the command and the verb, so this is the first argument.
  const first = `${start.slice(0, -1)}; and test (count (commandline -opc)) -eq 2'`;
  return choices === undefined ? lines : [...lines, `${first} -f -a ${quote(choices.join(' '))}`];
}

function optionOf([name, option]: [string, Option]): string {
  const { type, short, summary } = option;
  const flags = short === undefined ? `-l ${name}` : `-s ${short} -l ${name}`;
  const value = type === 'boolean' ? '' : valueSpec(option);
  return `${flags}${value} -d ${quote(summary)}`;
}

function valueSpec({ choices, starts, manifestWords }: Option): string {
  const words = choices ?? starts;
  if (manifestWords !== undefined) return ` -x -a '(__signing_gateway_words ${manifestWords})'`;
  return words === undefined ? ' -r -F' : ` -x -a ${quote(words.join(' '))}`;
}

function quote(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}

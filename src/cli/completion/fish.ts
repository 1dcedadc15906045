import type { Option } from '../terminal.ts';
import { COMMAND, type CompletionScript, type CompletionVerb } from './completion-script.ts';

/** Fish completes file names by itself unless `-f` or `-x` turns this off. */
export const fish: CompletionScript = (verbs) =>
  [
    `# fish completion of ${COMMAND}; in config.fish: ${COMMAND} completion fish | source`,
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

function optionOf([name, { type, short, choices, summary }]: [string, Option]): string {
  const flags = short === undefined ? `-l ${name}` : `-s ${short} -l ${name}`;
  const value = type === 'boolean' ? '' : choices === undefined ? ' -r -F' : ` -x -a ${quote(choices.join(' '))}`;
  return `${flags}${value} -d ${quote(summary)}`;
}

function quote(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}

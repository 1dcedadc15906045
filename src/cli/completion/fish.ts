import type { Option } from '../terminal.ts';
import { COMMAND, type CompletedVerb, type Completion } from './completed.ts';

/** Files are offered by fish itself, where nothing says otherwise. */
export const fish: Completion = (verbs) =>
  [
    `# fish completion of ${COMMAND}; in config.fish: ${COMMAND} completion fish | source`,
    ...verbs.map(
      ({ name, summary }) => `complete -c ${COMMAND} -f -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
    ),
    ...verbs.flatMap(linesOf),
    `complete -c ${COMMAND} -l help -d 'show options and examples'`,
    '',
  ].join('\n');

function linesOf({ name, options, words }: CompletedVerb): string[] {
  const start = `complete -c ${COMMAND} -n '__fish_seen_subcommand_from ${name}'`;
  const lines = Object.entries(options).map((entry) => `${start} ${optionOf(entry)}`);
  return words === undefined ? lines : [...lines, `${start} -f -a ${quoted(words.join(' '))}`];
}

function optionOf([name, { type, short, words, summary }]: [string, Option]): string {
  const spelt = short === undefined ? `-l ${name}` : `-s ${short} -l ${name}`;
  const taken = type === 'boolean' ? '' : words === undefined ? ' -r -F' : ` -x -a ${quoted(words.join(' '))}`;
  return `${spelt}${taken} -d ${quoted(summary)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}

import type { Option, Options, Verb } from '../terminal.ts';

/** The part of a verb that a completion script needs. */
export interface CompletionVerb extends Pick<Verb, 'choices'> {
  readonly name: string;
  readonly summary: string;
  readonly options: Options;
}

/** Returns the script that completes the command line in one shell. */
export type CompletionScript = (verbs: readonly CompletionVerb[]) => string;

const COMMAND = 'signing-gateway';

/** The command that prints words of a manifest: its arguments are the kind, and optionally the manifest. */
const WORDS_COMMAND = 'completion --words';

function flagsOf(name: string, short: string | undefined): string[] {
  return short === undefined ? [`--${name}`] : [`-${short}`, `--${name}`];
}

/** Bash completes file names by itself where the script offers no words. */
export const bash: CompletionScript = (
  verbs,
) => `# bash completion of ${COMMAND}; in ~/.bashrc: source <(${COMMAND} completion bash)
_signing_gateway() {
  COMPREPLY=()
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} options= words=
  # Bash splits "--name=value" into three words.
  if [[ $word == = ]]; then word=; elif [[ $previous == = ]]; then previous=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  if ((COMP_CWORD == 1)); then
    words='${[...verbs.map(({ name }) => name), '--help', '--version'].join(' ')}'
  else
    case "\${COMP_WORDS[1]}" in
${verbs.map(bashCase).join('')}    esac
    [[ $word == -* ]] && words=$options
    case "\${COMP_WORDS[1]} $previous" in
${verbs.flatMap(valueCases).join('')}    esac
  fi
  [[ $words == '' ]] || COMPREPLY=($(compgen -W "$words" -- "$word"))
  # The value of a header follows its name without a space.
  [[ \${COMPREPLY[0]-} == *: ]] && compopt -o nospace 2>/dev/null
}
# Adds words of the manifest that the command line names.
_signing_gateway_words() {
  local file= argument line
  for argument in "\${COMP_WORDS[@]}"; do [[ $argument == *.yaml || $argument == *.yml ]] && file=$argument; done
  while IFS= read -r line; do
    [[ $line == "$word"* ]] && COMPREPLY+=("$(printf %q "$line")")
  done < <("\${COMP_WORDS[0]}" ${WORDS_COMMAND} "$1" \${file:+"$file"} 2>/dev/null)
}
complete -o default -F _signing_gateway ${COMMAND}
`;

function bashCase({ name, options, choices = [] }: CompletionVerb): string {
  const flags = Object.entries(options).flatMap(([option, { short }]) => flagsOf(option, short));
  const words = choices.length === 0 ? '' : `; ((COMP_CWORD == 2)) && words='${choices.join(' ')}' `;
  return `      ${name}) options='${[...flags, '--help'].join(' ')}' ${words};;\n`;
}

function valueCases({ name, options }: CompletionVerb): string[] {
  return Object.entries(options).flatMap(([option, { short, choices, starts, manifestWords }]) => {
    const patterns = flagsOf(option, short).map((flag) => `'${name} ${flag}'`);
    const words = choices ?? starts;
    const action =
      manifestWords === undefined ? words && `words='${words.join(' ')}'` : `_signing_gateway_words ${manifestWords}`;
    return action === undefined ? [] : [`      ${patterns.join(' | ')}) ${action} ;;\n`];
  });
}

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
      ({ name, summary }) =>
        `complete -c ${COMMAND} -f -n __fish_use_subcommand -a ${name} -d ${quoteForFish(summary)}`,
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
  return choices === undefined ? lines : [...lines, `${first} -f -a ${quoteForFish(choices.join(' '))}`];
}

function optionOf([name, option]: [string, Option]): string {
  const { type, short, summary } = option;
  const flags = short === undefined ? `-l ${name}` : `-s ${short} -l ${name}`;
  const value = type === 'boolean' ? '' : valueSpec(option);
  return `${flags}${value} -d ${quoteForFish(summary)}`;
}

function valueSpec({ choices, starts, manifestWords }: Option): string {
  const words = choices ?? starts;
  if (manifestWords !== undefined) return ` -x -a '(__signing_gateway_words ${manifestWords})'`;
  return words === undefined ? ' -r -F' : ` -x -a ${quoteForFish(words.join(' '))}`;
}

function quoteForFish(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}

export const zsh: CompletionScript = (verbs) => `#compdef ${COMMAND}
# zsh completion of ${COMMAND}; in ~/.zshrc: source <(${COMMAND} completion zsh)
_signing_gateway() {
  local -a verbs=(
${verbs.map(({ name, summary }) => `    ${quoteForZsh(`${name}:${summary}`)}\n`).join('')}  )
  if ((CURRENT == 2)); then
    _describe verb verbs
    return
  fi
  shift words
  ((CURRENT -= 1))
  case $words[1] in
${verbs.map(zshCase).join('')}  esac
}
# Adds words of the manifest that the command line names.
_signing_gateway_words() {
  local file= argument
  for argument in $words; do [[ $argument == *.(yaml|yml) ]] && file=$argument; done
  local -a found=("\${(@f)$(${COMMAND} ${WORDS_COMMAND} $1 \${file:+$file} 2>/dev/null)}")
  [[ -n $found[1] ]] && compadd -a found
}
if [[ $funcstack[1] == _signing_gateway ]]; then
  _signing_gateway
else
  compdef _signing_gateway ${COMMAND}
fi
`;

function zshCase({ name, options, choices }: CompletionVerb): string {
  const first = choices === undefined ? '' : `${quoteForZsh(`1:argument:(${choices.join(' ')})`)} `;
  const rest = choices?.length === 0 ? first.trimEnd() : `${first}'*:file:_files'`;
  const specs = [...Object.entries(options).flatMap(specsOf), "'--help[show options and examples]'", rest];
  return `    ${name}) _arguments -s -S ${specs.join(' ')} ;;\n`;
}

function specsOf([name, option]: [string, Option]): string[] {
  const { type, short, multiple, valueName = '' } = option;
  const flags = flagsOf(name, short);
  const exclusions = multiple ? '*' : `(${flags.join(' ')})`;
  const summary = `[${option.summary.replaceAll(/[[\]:\\]/g, '\\$&')}]`;
  const value = type === 'boolean' ? '' : `:${escapeColons(valueName)}:${actionOf(option)}`;
  return flags.map((flag) => {
    // Allows both forms of a value: "-f x" and "-fx", "--format x" and "--format=x".
    const join = type === 'boolean' ? '' : flag.startsWith('--') ? '=' : '+';
    return quoteForZsh(`${exclusions}${flag}${join}${summary}${value}`);
  });
}

/** A space at the start of an action passes its arguments unchanged. */
function actionOf({ choices, starts, manifestWords }: Option): string {
  if (manifestWords !== undefined) return ` _signing_gateway_words ${manifestWords}`;
  // The value of a header follows its name without a space.
  if (starts !== undefined) return escapeColons(` compadd -S "" -- ${starts.join(' ')}`);
  return choices === undefined ? '_files' : `(${choices.join(' ')})`;
}

function escapeColons(text: string): string {
  return text.replaceAll(':', '\\:');
}

function quoteForZsh(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

import type { Option } from '../terminal.ts';
import { COMMAND, type CompletionScript, type CompletionVerb, flagsOf, WORDS_COMMAND } from './completion-script.ts';

export const zsh: CompletionScript = (verbs) => `#compdef ${COMMAND}
# zsh completion of ${COMMAND}; in ~/.zshrc: source <(${COMMAND} completion zsh)
_signing_gateway() {
  local -a verbs=(
${verbs.map(({ name, summary }) => `    ${quote(`${name}:${summary}`)}\n`).join('')}  )
  if ((CURRENT == 2)); then
    _describe verb verbs
    return
  fi
  shift words
  ((CURRENT -= 1))
  case $words[1] in
${verbs.map(verbCase).join('')}  esac
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

function verbCase({ name, options, choices }: CompletionVerb): string {
  const first = choices === undefined ? '' : `${quote(`1:argument:(${choices.join(' ')})`)} `;
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
    return quote(`${exclusions}${flag}${join}${summary}${value}`);
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

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

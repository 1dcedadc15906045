import type { Option } from '../terminal.ts';
import { COMMAND, type CompletionScript, type CompletionVerb, flagsOf } from './completion-script.ts';

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
  const { type, short, multiple, valueName = '', choices } = option;
  const flags = flagsOf(name, short);
  const exclusions = multiple ? '*' : `(${flags.join(' ')})`;
  const summary = `[${option.summary.replaceAll(/[[\]:\\]/g, '\\$&')}]`;
  const value =
    type === 'boolean' ? '' : `:${valueName}:${choices === undefined ? '_files' : `(${choices.join(' ')})`}`;
  return flags.map((flag) => {
    // Allows both forms of a value: "-f x" and "-fx", "--format x" and "--format=x".
    const join = type === 'boolean' ? '' : flag.startsWith('--') ? '=' : '+';
    return quote(`${exclusions}${flag}${join}${summary}${value}`);
  });
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

import type { Option } from '../terminal.ts';
import { COMMAND, type CompletedVerb, type Completion, spellingsOf } from './completed.ts';

export const zsh: Completion = (verbs) => `#compdef ${COMMAND}
# zsh completion of ${COMMAND}; in ~/.zshrc: source <(${COMMAND} completion zsh)
_signing_gateway() {
  local -a verbs=(
${verbs.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}\n`).join('')}  )
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

function verbCase({ name, options, words }: CompletedVerb): string {
  const rest = words === undefined ? "'*:file:_files'" : quoted(`1:word:(${words.join(' ')})`);
  const specs = [...Object.entries(options).flatMap(specsOf), "'--help[show options and examples]'", rest];
  return `    ${name}) _arguments -s -S ${specs.join(' ')} ;;\n`;
}

function specsOf([name, option]: [string, Option]): string[] {
  const { type, short, multiple, value = '', words } = option;
  const spellings = spellingsOf(name, short);
  const others = multiple ? '*' : `(${spellings.join(' ')})`;
  const told = `[${option.summary.replaceAll(/[[\]:\\]/g, '\\$&')}]`;
  const taken = type === 'boolean' ? '' : `:${value}:${words === undefined ? '_files' : `(${words.join(' ')})`}`;
  return spellings.map((spelling) => {
    // "-f x", "-fx"; "--format x", "--format=x".
    const join = type === 'boolean' ? '' : spelling.startsWith('--') ? '=' : '+';
    return quoted(`${others}${spelling}${join}${told}${taken}`);
  });
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

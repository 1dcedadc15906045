import { COMMAND, type CompletionScript, type CompletionVerb, flagsOf, WORDS_COMMAND } from './completion-script.ts';

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
${verbs.map(verbCase).join('')}    esac
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

function verbCase({ name, options, choices = [] }: CompletionVerb): string {
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

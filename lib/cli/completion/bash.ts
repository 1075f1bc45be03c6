/** The bash script: plain `complete -F`, no bash-completion package needed. */

import { type Place } from "./places.ts";

/** A script that defines and registers the completion of `program`. */
export function bashScript(program: string, places: readonly Place[]): string {
  const cases = places.map(({ path, words, flags }) => {
    const offered = [...words.map((offer) => offer.word), ...flags.map((offer) => offer.word)];
    return `    '${path}') words='${offered.join(" ")}' ;;`;
  });
  const values = places.flatMap(({ path, flags }) =>
    flags.flatMap(({ word, choices }) =>
      choices === undefined ? [] : [`    '${path} ${word}') words='${choices.join(" ")}' ;;`]
    )
  );
  const paths = places.filter(({ path }) => path !== "").map(({ path }) => `'${path}'`);
  return `# bash completion for ${program}. Load it with: source <(${program} completion bash)
_${program}() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local path='' next word words=''
  # Bash splits at "=": --flag=value arrives as three words.
  if [[ $current == '=' ]]; then current=''; elif [[ $previous == '=' ]]; then
    previous=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${path:+$path }$word"
    case $next in
    ${paths.join(" | ")}) path=$next ;;
    esac
  done
  case "$path $previous" in
${values.join("\n")}
  *) case $path in
${cases.join("\n")}
    esac
    if [[ $current != -* ]]; then
      local plain='' ; for word in $words; do [[ $word == -* ]] || plain+="$word "; done
      [[ -z $plain ]] || words=$plain
    fi ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _${program} ${program}
`;
}

/** The zsh script: works from `fpath` (as `_headcni`) and by `source`. */

import { type Offer, type Place } from "./places.ts";

/** A script that defines and registers the completion of `program`. */
export function zshScript(program: string, places: readonly Place[]): string {
  const cases = places.map(({ path, words, flags }) =>
    `    '${path}')
      words_=(${words.map(described).join(" ")})
      flags_=(${flags.map(described).join(" ")}) ;;`
  );
  const values = places.flatMap(({ path, flags }) =>
    flags.flatMap(({ word, choices }) =>
      choices === undefined
        ? []
        : [`    '${path} ${word}') compadd -- ${choices.join(" ")}; return ;;`]
    )
  );
  const paths = places.filter(({ path }) => path !== "").map(({ path }) => `'${path}'`);
  return `#compdef ${program}
# zsh completion for ${program}. Put it into a directory of $fpath as _${program}.
_${program}() {
  local path_='' next word
  local -a words_ flags_
  for word in "\${(@)words[2,CURRENT-1]}"; do
    next="\${path_:+$path_ }$word"
    case $next in
    (${paths.join("|")}) path_=$next ;;
    esac
  done
  case "$path_ \${words[CURRENT-1]}" in
${values.join("\n")}
  esac
  if [[ $PREFIX == --*=* ]]; then
    local flag=\${PREFIX%%=*}
    compset -P '*='
    case "$path_ $flag" in
${values.join("\n")}
    esac
  fi
  case $path_ in
${cases.join("\n")}
  esac
  if (( $#words_ )) && [[ $PREFIX != -* ]]; then
    _describe -t commands command words_
  else
    _describe -o -t flags flag flags_
  fi
}
# Called as an autoloaded function it completes; sourced it registers itself.
if [[ $funcstack[1] == _${program} ]]; then
  _${program} "$@"
else
  compdef _${program} ${program}
fi
`;
}

/** `word:summary` as _describe wants it, quoted; a colon in the word would end it. */
function described({ word, summary }: Offer): string {
  const text = `${word.replaceAll(":", "\\:")}:${summary}`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The fish script: one `complete` line per word and flag, each with its condition. */

import { type FlagOffer, type Place } from "./places.ts";

/** A script that registers the completion of `program`. */
export function fishScript(program: string, places: readonly Place[]): string {
  const at = `__${program}_at`;
  const lines = places.flatMap(({ path, words, flags }) => {
    const start = `complete -c ${program} -n ${quoted(`${at} ${quoted(path)}`)}`;
    return [
      ...words.map(({ word, summary }) => `${start} -a ${quoted(word)} -d ${quoted(summary)}`),
      ...flags.map((flag) => `${start} ${flagWords(flag)}`),
    ];
  });
  const paths = places.filter(({ path }) => path !== "").map(({ path }) => quoted(path));
  return `# fish completion for ${program}. Put it into ~/.config/fish/completions/${program}.fish
function ${at} --description 'Whether the commands typed so far are exactly these'
    set -l path ''
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$path $word")
        if contains -- "$next" ${paths.join(" ")}
            set path $next
        end
    end
    test "$path" = "$argv[1]"
end
complete -c ${program} -f
${lines.join("\n")}
`;
}

function flagWords({ word, short, summary, choices }: FlagOffer): string {
  const parts = [`-l ${word.slice(2)}`];
  if (short !== undefined) parts.push(`-s ${short.slice(1)}`);
  if (choices !== undefined) parts.push(`-x -a ${quoted(choices.join(" "))}`);
  return [...parts, `-d ${quoted(summary)}`].join(" ");
}

/** In fish single quotes only `\\` and `'` are special. */
function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

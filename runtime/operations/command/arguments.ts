/** Parses the command line. */
export interface Arguments {
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, string>>;
}

/** Options without a value, whatever follows them: `site push demo --dry-run ./site`. */
const flags: ReadonlySet<string> = new Set([
  "force",
  "dry-run",
  "dbs",
  "delete",
  "help",
  "version",
  "watch",
  "https",
  "rehearsal",
  "adopt",
  "json",
  "print",
  "start",
  "allow-downgrade",
]);
const short: Readonly<Record<string, string>> = { h: "help", v: "version" };

/** `token create --user admin --name=cli --force` -> its words and options. */
export function parseArguments(list: readonly string[]): Arguments {
  const words: string[] = [];
  const options: Record<string, string> = {};
  for (let at = 0; at < list.length; at++) {
    const word = list[at] ?? "";
    if (!word.startsWith("-")) {
      words.push(word);
      continue;
    }
    const [given = "", value] = word.replace(/^-{1,2}/, "").split(/=(.*)/s);
    const name = (Object.hasOwn(short, given) && short[given]) || given;
    const next = list[at + 1];
    if (value !== undefined) options[name] = value;
    else if (next !== undefined && !next.startsWith("-") && !flags.has(name)) {
      options[name] = next;
      at++;
    } else options[name] = "true";
  }
  return { words, options };
}

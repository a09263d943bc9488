/**
 * Settings: which values an environment variable may have. A plugin declares its own in `config`. All are read once, at
 * startup, and each mistake is reported on one line.
 */
export interface Setting<T> {
  readonly env: string;
  readonly doc: string;
  /** The default, as one would write it; "" = none. */
  readonly standard: string;
  /** Throws an Error that says what is wrong with the text. */
  parse(text: string): T;
  /** The only values that there are; undefined = others too. */
  readonly choices?: readonly string[];
  /** For settings of accounts: the privilege `settings` is not enough to change it. */
  readonly adminOnly?: true;
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;
export type ConfigOf<S extends Settings> = { readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

export type Environment = Readonly<Record<string, string | undefined>>;

export class ConfigError extends Error {
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(mistakes.join("\n"));
    this.name = "ConfigError";
    this.mistakes = mistakes;
  }
}

export function text(env: string, standard: string, doc: string): Setting<string> {
  return { env, standard, doc, parse: (value) => value };
}

export function integer(
  env: string,
  standard: number,
  doc: string,
  range: { min: number; max: number },
): Setting<number> {
  const parse = (value: string) => {
    const number = Number(value);
    if (/^\d{1,15}$/.test(value) && number >= range.min && number <= range.max) return number;
    throw new Error(`must be a whole number from ${range.min} to ${range.max}`);
  };
  return { env, standard: `${standard}`, doc, parse };
}

export function flag(env: string, standard: boolean, doc: string): Setting<boolean> {
  const parse = (value: string) => {
    if (value === "true" || value === "false") return value === "true";
    throw new Error("must be true or false");
  };
  return { env, standard: `${standard}`, doc, choices: ["true", "false"], parse };
}

export function oneOf<const T extends string>(env: string, standard: T, doc: string, values: readonly T[]): Setting<T> {
  const parse = (value: string) => {
    const found = values.find((allowed) => allowed === value);
    if (found !== undefined) return found;
    throw new Error(`must be one of ${values.join(", ")}`);
  };
  return { env, standard, doc, choices: values, parse };
}

/** A setting that `parse` checks, e.g. an address or a list of networks. */
export function checked<T>(env: string, standard: string, doc: string, parse: (value: string) => T): Setting<T> {
  return { env, standard, doc, parse };
}

/** An account's setting that only administrators change. */
export function adminOnly<T>(setting: Setting<T>): Setting<T> {
  return { ...setting, adminOnly: true };
}

/**
 * Reads `settings` from `env`; an unset or empty variable has the default. Throws one ConfigError with every mistake.
 */
export function readSettings<S extends Settings>(settings: S, env: Environment): ConfigOf<S> {
  const mistakes: string[] = [];
  const entries = Object.entries(settings).map(([name, setting]) => {
    const given = env[setting.env]?.trim();
    try {
      return [name, setting.parse(given ? given : setting.standard)];
    } catch (error) {
      mistakes.push(`${setting.env} ${error instanceof Error ? error.message : String(error)}`);
      return [name, undefined];
    }
  });
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  // Each entry comes from the setting of the same name.
  return Object.fromEntries(entries) as ConfigOf<S>;
}

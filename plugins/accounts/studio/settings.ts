export interface Setting {
  readonly name: string;
  readonly plugin: string;
  readonly doc: string;
  readonly value: string;
  readonly standard: string;
  readonly choices: readonly string[];
}

/** What differs from what the server has; null returns to the default, which an empty field stands for. */
export function changedSettings(
  settings: readonly Setting[],
  typed: Readonly<Record<string, string>>,
): Record<string, string | null> {
  const changed = settings.flatMap(({ name, value, standard }): [string, string | null][] => {
    const wanted = typed[name] ?? "";
    if ((wanted === "" ? standard : wanted) === value) return [];
    return [[name, wanted === "" ? null : wanted]];
  });
  return Object.fromEntries(changed);
}

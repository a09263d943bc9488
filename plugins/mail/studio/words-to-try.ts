/** The words of the form that a preview can be asked for; undefined while something is missing. Pure. */
export function wordsToTry(inputs: Readonly<Record<string, unknown>>): Record<string, string | null> | undefined {
  const { code, language, subject, text, html } = inputs;
  const given = { code, language, subject, text };
  const whole = Object.entries(given).flatMap(([name, value]): [string, string][] =>
    typeof value === "string" && value.trim() !== "" ? [[name, value]] : [],
  );
  if (whole.length < 4) return undefined;
  return { ...Object.fromEntries(whole), html: typeof html === "string" && html !== "" ? html : null };
}

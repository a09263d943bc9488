/** The form of the mail server. Pure. */

export const fields = ["url", "user", "password", "from", "reply_to", "tls"] as const;
export type Name = (typeof fields)[number];
export type Typed = Readonly<Record<Name, string>>;

type Row = Readonly<Record<string, unknown>>;

/** Initial values of the form; the password is never known. */
export function typedOf(server: Row): Typed {
  const of = (name: Name) => (server["source"] === "account" && typeof server[name] === "string" ? server[name] : "");
  return { url: of("url"), user: of("user"), password: "", from: of("from"), reply_to: of("reply_to"), tls: of("tls") };
}

/** The patch to send: an empty field clears the value, but an empty password keeps the stored one. */
export function patchOf({ url, user, password, from, reply_to, tls }: Typed): Row {
  return {
    url,
    from,
    user: user || null,
    reply_to: reply_to || null,
    tls: tls || null,
    ...(password !== "" && { password }),
  };
}

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

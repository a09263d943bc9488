/** The form of the mail server. Pure. */

export const fields = ["url", "user", "password", "from", "reply_to", "tls"] as const;
export type Name = (typeof fields)[number];
export type Typed = Readonly<Record<Name, string>>;

type Row = Readonly<Record<string, unknown>>;

/** What the form begins with; the password is never known. */
export function typedOf(server: Row): Typed {
  const of = (name: Name) => (server["source"] === "account" && typeof server[name] === "string" ? server[name] : "");
  return { url: of("url"), user: of("user"), password: "", from: of("from"), reply_to: of("reply_to"), tls: of("tls") };
}

/** What is sent: an empty field takes its value away, but an empty password stays as it is. */
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

/** The methods of a connector as a list that people edit. Pure. */
import { isMap, parseJson } from "studio/exact";

export type Values = Readonly<Record<string, unknown>>;

export interface Row {
  readonly name: string;
  readonly method: Values;
}

/** How one part of a method is edited. */
export type PartKind = "verb" | "line" | "text" | "pairs" | "body" | "seconds" | "flag";

export interface Part {
  readonly name: string;
  readonly kind: PartKind;
}

const line = (name: string): Part => ({ name, kind: "line" });
const common: readonly Part[] = [{ name: "public", kind: "flag" }];

/** The parts of the methods of the kinds that are known here; those of other kinds are edited as JSON. */
export const shapes: Readonly<Record<string, readonly Part[]>> = {
  "core/custom_connector": [
    { name: "method", kind: "verb" },
    line("path"),
    line("description"),
    { name: "query", kind: "pairs" },
    { name: "headers", kind: "pairs" },
    { name: "body", kind: "body" },
    { name: "timeout", kind: "seconds" },
    ...common,
  ],
  "core/smtp": [
    ...["to", "subject"].map(line),
    { name: "text", kind: "text" },
    { name: "html", kind: "text" },
    ...["cc", "bcc", "from", "reply_to"].map(line),
    ...common,
  ],
  "core/postgres": [
    { name: "sql", kind: "text" },
    line("description"),
    { name: "timeout", kind: "seconds" },
    ...common,
  ],
};

export const verbs = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] as const;

/** Undefined if the text is no object of methods. An empty text has none. */
export function rowsOf(text: string): Row[] | undefined {
  const methods = objectIn(text);
  if (!methods) return undefined;
  const rows = Object.entries(methods).map(([name, method]) => ({ name, method }));
  return rows.every((row): row is Row => isMap(row.method)) ? rows : undefined;
}

export function textOf(rows: readonly Row[]): string {
  return rows.length === 0
    ? ""
    : JSON.stringify(Object.fromEntries(rows.map(({ name, method }) => [name, method])), null, 2);
}

export function withNew(rows: readonly Row[], kind: string): Row[] {
  const method: Values = kind === "core/custom_connector" ? { method: "GET", path: "/" } : {};
  return [...rows, { name: freeName(rows, "method"), method }];
}

export function duplicated(rows: readonly Row[], at: number): Row[] {
  const row = rows[at];
  return row ? rows.toSpliced(at + 1, 0, { name: freeName(rows, row.name), method: row.method }) : [...rows];
}

/** Undefined if another one has the name, or if it is none. */
export function renamed(rows: readonly Row[], at: number, name: string): Row[] | undefined {
  if (name === "" || rows.some((row, other) => other !== at && row.name === name)) return undefined;
  return rows.map((row, other) => (other === at ? { ...row, name } : row));
}

/** An empty value takes the part away. */
export function changed(rows: readonly Row[], at: number, part: string, value: unknown): Row[] {
  return rows.map((row, other) => (other === at ? { ...row, method: withPart(row.method, part, value) } : row));
}

export function withPart(method: Values, part: string, value: unknown): Values {
  const isEmpty =
    value === undefined || value === "" || value === false || (isMap(value) && Object.keys(value).length === 0);
  if (!isEmpty) return { ...method, [part]: value };
  return Object.fromEntries(Object.entries(method).filter(([name]) => name !== part));
}

/** What stands beside the name of a method that is folded. */
export function summaryOf(kind: string, { method }: Row): string {
  const text = (name: string) => (typeof method[name] === "string" ? method[name] : "");
  if (kind === "core/smtp") return text("subject");
  if (kind === "core/postgres") return text("sql").split("\n", 1)[0]?.slice(0, 120) ?? "";
  return `${(text("method") || "GET").toUpperCase()} ${text("path") || "/"}`;
}

/** The messages about one method, without the name that they begin with. */
export function messagesOf(messages: readonly string[], name: string): string[] {
  const start = `methods.${name}`;
  return messages.flatMap((message) =>
    message.startsWith(start) && /^[.:\s]/.test(message.slice(start.length))
      ? [message.slice(start.length).replace(/^[.:\s]+/, "")]
      : [],
  );
}

export type Pair = readonly [name: string, value: string];

export function pairsOf(value: unknown): Pair[] {
  return isMap(value)
    ? Object.entries(value).map(([name, one]) => [name, typeof one === "string" ? one : JSON.stringify(one)])
    : [];
}

/** A value that was not touched stays what it was: a number is none that was typed. */
export function objectOf(pairs: readonly Pair[], before: unknown): Values {
  const known = isMap(before) ? before : {};
  return Object.fromEntries(
    pairs
      .filter(([name]) => name !== "")
      .map(([name, text]) => {
        const value = Object.hasOwn(known, name) ? known[name] : undefined;
        return [name, typeof value !== "string" && JSON.stringify(value) === text ? value : text];
      }),
  );
}

/** A body as it is edited: an object as JSON, a template as it is. */
export function bodyText(body: unknown): string {
  if (body === undefined || body === null) return "";
  return typeof body === "string" ? body : JSON.stringify(body, null, 2);
}

export function bodyOf(text: string): unknown {
  return text.trim() === "" ? undefined : (jsonIn(text) ?? text);
}

function jsonIn(text: string): object | undefined {
  try {
    const value = parseJson(text);
    return Array.isArray(value) || isMap(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function objectIn(text: string): Values | undefined {
  if (text.trim() === "") return {};
  const value = jsonIn(text);
  return isMap(value) ? value : undefined;
}

function freeName(rows: readonly Row[], wish: string): string {
  const taken = new Set(rows.map(({ name }) => name));
  const bare = wish.replace(/_\d{1,9}$/, "");
  let at = rows.length + 1;
  while (taken.has(`${bare}_${at}`)) at++;
  return taken.has(wish) || wish === "method" ? `${bare}_${at}` : wish;
}

/** Converts a site to files and back. Pure: text in, text out. */
import { isObject } from "platform";
import { kinds, type FieldSpec, type Kind, type KindName, type SiteRecord } from "./kinds.ts";
import { parseYaml, printYaml, type LineMistake, type Parsed, type Value, type Values } from "./yaml.ts";
import { cleanPath } from "../code.ts";
import { redirectCode, redirectPlace } from "../redirects/rule.ts";

/** A mistake in a file, and its line. */
export interface FileMistake {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** Where a record and its fields are, for mistakes that are found later. */
interface Place {
  readonly file: string;
  readonly lines: ReadonlyMap<string, number>;
  /** The line at which `content` begins. */
  readonly bodyLine: number;
}

export interface Tree {
  readonly records: readonly SiteRecord[];
  readonly places: ReadonlyMap<string, Place>;
  readonly mistakes: readonly FileMistake[];
}

export const keyOf = ({ kind, code }: Pick<SiteRecord, "kind" | "code">): string => `${kind} ${code}`;

/** The path of a record's file. */
export function fileOf({ kind, code }: Pick<SiteRecord, "kind" | "code">): string {
  if (kind === "site") return "site.yaml";
  if (kind === "redirect") return redirectsFile;
  const { folder, extension } = kinds.find(({ name }) => name === kind) ?? { folder: kind, extension: "" };
  // Only a domain's name can hold something unfit for a file's name: the colon before its port.
  return `${folder}/${code.replaceAll(":", "%3A")}${extension}`;
}

/** Names a record for people: its file, and which one it is in the file of all redirects. */
export function labelOf(record: Pick<SiteRecord, "kind" | "code">): string {
  return record.kind === "redirect" ? `${redirectsFile}: ${record.code}` : fileOf(record);
}

/** Whether a path is that of a record's file, so that `pull` may remove it. */
export function isSiteFile(path: string): boolean {
  return path === redirectsFile || placeOf(path) !== undefined;
}

function placeOf(path: string): { kind: Kind; code: string } | undefined {
  for (const kind of kinds) {
    if (kind.name === "site" ? path === "site.yaml" : false) return { kind, code: "" };
    if (kind.folder === "" || !path.startsWith(`${kind.folder}/`) || !path.endsWith(kind.extension)) continue;
    const name = path.slice(kind.folder.length + 1, -kind.extension.length);
    const code = kind.name === "domain" ? name.replaceAll("%3A", ":") : name;
    const allowed = kind.name === "domain" ? /^[a-z0-9][a-z0-9.-]*(?::\d{1,5})?$/ : /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;
    return allowed.test(code) ? { kind, code } : undefined;
  }
  return undefined;
}

/** The text of each file. */
export function printTree(records: readonly SiteRecord[]): Map<string, string> {
  const redirects = records.filter(({ kind }) => kind === "redirect");
  const alone = records.filter(({ kind }) => kind !== "redirect");
  const files = new Map(alone.map((record) => [fileOf(record), printRecord(record)]));
  return redirects.length === 0 ? files : files.set(redirectsFile, printRedirects(redirects));
}

/** The text of a record's file. */
export function printRecord(record: SiteRecord): string {
  const kind = kinds.find(({ name }) => name === record.kind);
  if (!kind) throw new Error(`there is no kind ${record.kind}`);
  const shown = Object.entries(kind.fields).flatMap(([name, { standard }]): [string, Value][] => {
    const value = record.values[name] ?? null;
    return standard !== undefined && same(value, standard) ? [] : [[name, value]];
  });
  const matter = printYaml(Object.fromEntries(shown));
  if (kind.extension === ".yaml") return matter;
  const content = record.values["content"];
  // One line break ends every file; an empty body has no line at all.
  return `---\n${matter}---\n${typeof content === "string" && content !== "" ? `${content}\n` : ""}`;
}

/** Reads the files of a folder. If there are mistakes, the records must not be used. */
export function readTree(files: ReadonlyMap<string, string>): Tree {
  const records: SiteRecord[] = [];
  const places = new Map<string, Place>();
  const mistakes: FileMistake[] = [];
  for (const [file, text] of files) {
    // A README or a licence may stand beside the site.
    if (!file.includes("/") && file !== "site.yaml" && !/\.(ya?ml|liquid)$/.test(file)) continue;
    if (file === redirectsFile) {
      const { redirects, mistakes: wrong } = readRedirects(text);
      mistakes.push(...wrong.map((mistake) => ({ file, ...mistake })));
      for (const { record, line } of redirects) {
        records.push(record);
        const lines = new Map(Object.keys(record.values).map((name) => [name, line]));
        places.set(keyOf(record), { file, lines, bodyLine: line });
      }
      continue;
    }
    const place = placeOf(file);
    if (!place) {
      mistakes.push({ file, line: 1, message: `is not a file of a site: ${expected}` });
      continue;
    }
    const read = readRecord(place.kind, place.code, text);
    mistakes.push(...read.mistakes.map((mistake) => ({ file, ...mistake })));
    records.push(read.record);
    places.set(keyOf(read.record), { file, lines: read.lines, bodyLine: read.bodyLine });
  }
  if (!files.has("site.yaml")) mistakes.push({ file: "site.yaml", line: 1, message: "is missing" });
  return { records, places, mistakes: [...mistakes, ...references(records, places)] };
}

const redirectsFile = "redirects.yaml";

const expected = `expected site.yaml, ${redirectsFile} or ${kinds
  .filter(({ folder }) => folder !== "")
  .map(({ folder, extension }) => `${folder}/CODE${extension}`)
  .join(", ")}`;

function readRecord(kind: Kind, code: string, text: string) {
  const { parsed, content, bodyLine } = kind.extension === ".yaml" ? { ...bare(text) } : front(text);
  const mistakes: LineMistake[] = [...parsed.mistakes];
  for (const [name, line] of parsed.lines) {
    if (!Object.hasOwn(kind.fields, name))
      mistakes.push({ line, message: `${name} is not a field of this file: ${Object.keys(kind.fields).join(", ")}` });
  }
  const values: [string, Value][] = [];
  for (const [name, spec] of Object.entries(kind.fields)) {
    const given = Object.hasOwn(parsed.values, name) ? parsed.values[name] : undefined;
    if (given === undefined && spec.standard === undefined && parsed.mistakes.length === 0)
      mistakes.push({ line: 1, message: `${name} is missing` });
    const wrong = given === undefined ? undefined : mismatch(spec, given);
    if (wrong !== undefined) mistakes.push({ line: parsed.lines.get(name) ?? 1, message: `${name} ${wrong}` });
    values.push([name, given ?? spec.standard ?? null]);
  }
  if (content !== undefined) values.push(["content", content]);
  const record: SiteRecord = { kind: kind.name, code, values: Object.fromEntries(values) };
  return { record, mistakes, lines: parsed.lines, bodyLine };
}

interface Parts {
  readonly parsed: Parsed;
  readonly content: string | undefined;
  readonly bodyLine: number;
}

function bare(text: string): Parts {
  return { parsed: parseYaml(text), content: undefined, bodyLine: 1 };
}

/** The front matter between two lines of `---`, and the rest as it is, without the line break that ends the file. */
function front(text: string): Parts {
  const opening = /^---[ \t]*\r?\n/.exec(text)?.[0];
  const closing = opening === undefined ? null : /^---[ \t]*(?:\r?\n|$)/m.exec(text.slice(opening.length));
  if (opening === undefined || !closing) {
    const message = "must begin with front matter between two lines of ---";
    return { parsed: { values: {}, lines: new Map(), mistakes: [{ line: 1, message }] }, content: "", bodyLine: 1 };
  }
  const matter = text.slice(opening.length, opening.length + closing.index);
  const body = text.slice(opening.length + closing.index + closing[0].length);
  const bodyLine = 3 + matter.split("\n").length - 1;
  return { parsed: parseYaml(matter, 2), content: body.replace(/\n$/, ""), bodyLine };
}

function mismatch({ type, standard }: FieldSpec, value: Value): string | undefined {
  if (value === null) return standard === null ? undefined : "can't be null";
  if (type === "text" || type === "time")
    return typeof value === "string" ? undefined : "must be text (in double quotes)";
  if (type === "flag") return typeof value === "boolean" ? undefined : "must be true or false";
  if (type === "integer") return Number.isSafeInteger(value) ? undefined : "must be a whole number";
  const isList = Array.isArray(value);
  if (type === "object") return isObject(value) ? undefined : "must be a map";
  return isList && value.every((item) => typeof item === "string") ? undefined : 'must be a list: ["a", "b"]';
}

const referring: Readonly<Record<string, KindName>> = {
  layout_code: "layout",
  based_on_page_code: "page",
  page_code: "page",
  category_code: "category",
  categories: "category",
  domain: "domain",
};

/** References to records that have no file in the folder. */
function references(records: readonly SiteRecord[], places: ReadonlyMap<string, Place>): FileMistake[] {
  return records.flatMap((record) => {
    const place = places.get(keyOf(record));
    return Object.entries(referring).flatMap(([name, kind]) => {
      const value = record.values[name] ?? [];
      const codes = (Array.isArray(value) ? value : [value]).filter((code) => typeof code === "string");
      return codes
        .filter((code) => !places.has(keyOf({ kind, code })))
        .map((code) => ({
          file: place?.file ?? "",
          line: place?.lines.get(name) ?? 1,
          message: `${name}: there is no file ${fileOf({ kind, code })}`,
        }));
    });
  });
}

/** Whether two values are the same JSON, in whatever order their keys are. */
export function same(a: Value | undefined, b: Value | undefined): boolean {
  return canonical(a ?? null) === canonical(b ?? null);
}

function canonical(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(",")}}`;
}

function printRedirects(records: readonly SiteRecord[]): string {
  const sorted = records.toSorted((a, b) => (a.code < b.code ? -1 : 1));
  const lines = sorted.map(({ code, values: { to = null, status = 301 } }): [string, Value] => [
    code,
    status === 301 ? to : { to, status },
  ]);
  return printYaml(Object.fromEntries(lines));
}

interface ReadRedirect {
  readonly record: SiteRecord;
  readonly line: number;
}

function readRedirects(text: string): { redirects: ReadRedirect[]; mistakes: LineMistake[] } {
  const { values, lines, mistakes: unread } = parseYaml(text);
  const mistakes = [...unread];
  const found = new Map<string, ReadRedirect>();
  for (const [key, value] of Object.entries(values)) {
    const line = lines.get(key) ?? 1;
    const read = readRedirect(key, value);
    const wrong = "mistake" in read ? read.mistake : found.has(read.code) ? `${key} appears twice` : undefined;
    if (wrong !== undefined) mistakes.push({ line, message: wrong });
    if (!("mistake" in read)) found.set(read.code, { record: read, line });
  }
  return { redirects: [...found.values()], mistakes };
}

function readRedirect(key: string, value: Value): SiteRecord | { readonly mistake: string } {
  const place = redirectPlace(key);
  if (!place) return { mistake: `${key}: must be "/path", or "host/path" for one domain` };
  const clean = cleanPath(place.path);
  if ("mistake" in clean) return { mistake: `${key}: the path ${clean.mistake}` };
  const { to, status = 301, ...more } = mapOf(value);
  if (typeof to !== "string" || typeof status !== "number" || Object.keys(more).length > 0)
    return { mistake: `${key}: must be a path or an address, or a map of to and status` };
  const { path } = clean;
  const { host } = place;
  return { kind: "redirect", code: redirectCode(host, path), values: { path, domain: host, to, status } };
}

function mapOf(value: Value): Values {
  if (typeof value === "string") return { to: value };
  return isObject(value) ? value : {};
}

/** An entry of the log as people say it: who, what they did, and to which thing. Pure. */
import { isMap } from "studio/exact";
import { whoOf } from "./entry.ts";

type Row = Readonly<Record<string, unknown>>;

interface ListOf {
  readonly path: string;
  readonly model?: string;
}

interface Words<R extends ListOf> {
  /** Of the person, if they are known. */
  readonly name: string | undefined;
  readonly texts: Readonly<Record<string, unknown>>;
  readonly resources: readonly R[];
  readonly singular: (path: string) => string;
  readonly plural: (path: string) => string;
  readonly field: (resource: R, name: string) => string;
  /** What the table of this short name is called. */
  readonly table: (code: string) => string;
  /** What a record is called, by its table and id. */
  readonly title: (db: string, id: string) => string | undefined;
  /** A field of a table: its label, and its values in words; undefined for what says nothing to a person, such as an id. */
  readonly column: (db: string, name: string) => Column;
}

export interface Column {
  readonly label: string;
  readonly shown: (value: unknown) => string | undefined;
}

export interface Sentence {
  readonly who: string;
  readonly words: string;
  /** What it was done to. */
  readonly thing: string;
  /** From what to what, of a single field. */
  readonly tail: string;
  /** Of several: the first of them, each with both values. */
  readonly more: string;
}

const record = "Core::Record";
const mostFields = 3;
const textOf = (value: unknown) => (typeof value === "string" ? value : "");

/** "Ada Example" "changed Status of" "O-1045 in Orders" "from New to Paid". */
export function sentenceOf<R extends ListOf>(row: Row, words: Words<R>): Sentence {
  const { name, texts, resources, singular, field, column } = words;
  const say = (word: string) => textOf(texts[word]);
  const who = name ?? whoOf(row, say("system"));
  const action = textOf(row["action"]);
  const resource = resources.find(({ model }) => model !== undefined && model === row["model"]);
  const thing = thingOf(row, resource && singular(resource.path), words);
  if (action === "update") {
    const entries = Object.entries(isMap(row["changes"]) ? row["changes"] : {});
    const nothing = say(entries.length === 1 ? "nothing" : "blank");
    const changes = entries.map(([one, change]) => {
      const said = row["model"] === record ? column(textOf(row["name"]), one) : undefined;
      const label = said?.label ?? (resource ? field(resource, one) : inWords(one));
      return { label, ...sidesOf(change, said?.shown ?? plainly, nothing) };
    });
    const names = changes.map(({ label }) => label);
    const some =
      names.slice(0, mostFields).join(", ") + (names.length > mostFields ? ` +${names.length - mostFields}` : "");
    const [only] = changes;
    const isOne = changes.length === 1 && only?.before !== undefined;
    const told = changes.flatMap(({ label, before, after }) =>
      before === undefined ? [] : [`${label}: ${before} → ${after}`],
    );
    return {
      who,
      words: some === "" ? say("changed") : say("changedFields").replace("{fields}", some),
      thing,
      tail: isOne
        ? say("fromTo")
            .replace("{old}", only?.before ?? "")
            .replace("{new}", only?.after ?? "")
        : "",
      more: isOne ? "" : told.slice(0, mostFields).join(" · "),
    };
  }
  const isAboutSelf = action.startsWith("sign-") || action.startsWith("backup");
  const word = actionWords[action];
  return { who, words: word ? say(word) : action, thing: isAboutSelf ? "" : thing, tail: "", more: "" };
}

const actionWords: Readonly<Record<string, string>> = {
  create: "created",
  delete: "deleted",
  "sign-in": "signedIn",
  "sign-out": "signedOut",
  "sign-in refused": "signInRefused",
  refused: "refused",
  export: "exported",
  "secret shown": "secretShown",
  backup: "backedUp",
  "backup failed": "backupFailed",
};

const mostLetters = 60;

/** Without both where a value says nothing to a person, or is secret. */
function sidesOf(change: unknown, shown: Column["shown"], nothing: string): { before?: string; after?: string } {
  if (!isMap(change) || change["secret"] === true || !("old" in change || "new" in change)) return {};
  const [before, after] = ["old", "new"].map((side) => {
    const value = change[side];
    const words = value === undefined || value === null || value === "" ? nothing : shown(value);
    return words !== undefined && words.length > mostLetters ? `${words.slice(0, mostLetters)}…` : words;
  });
  return before === undefined || after === undefined ? {} : { before, after };
}

function plainly(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

function thingOf<R extends ListOf>(row: Row, kind: string | undefined, words: Words<R>): string {
  const { model, name, action } = row;
  const say = (word: string) => textOf(words.texts[word]);
  if (model === record) {
    const title = words.title(textOf(name), textOf(row["record_id"]));
    const table = words.table(textOf(name));
    return (title ? say("recordIn").replace("{title}", title) : say("recordOf")).replace("{table}", table);
  }
  const own: Readonly<Record<string, string>> = {
    "Core::Comment": say("comment"),
    "Account::Setting": say("setting"),
    "Account::Membership": say("membership"),
  };
  const word = own[textOf(model)] ?? kind ?? inWords(textOf(model).split("::")[1] ?? "");
  const called = model === "Account::Setting" ? inWords(textOf(name)) : textOf(name);
  // What was refused, exported or shown is called by its address.
  if (action === "refused" || action === "export" || action === "secret shown")
    return placeIn(called, words, action === "refused");
  return called === "" ? word : `${word} ${say("quoted").replace("{text}", () => called)}`;
}

/** "PATCH /core/dbs/orders/records/7.json" is "to change Orders"; what has no words is left to the entry's page. */
function placeIn<R extends ListOf>(
  request: string,
  { texts, resources, plural, table }: Words<R>,
  saysMethod: boolean,
): string {
  const [, method = "", path = ""] = /^(?:([A-Z]{3,7}) )?(\/\S*)/.exec(request) ?? [];
  if (path === "") return request;
  const [, db] = /^\/core\/dbs?\/([^/.]+)/.exec(path) ?? [];
  const bare = path.replace(/\.json$/, "");
  const found = resources
    .filter((one) => bare === one.path || bare.startsWith(`${one.path}/`))
    .toSorted((a, b) => b.path.length - a.path.length)[0];
  const place = db === undefined ? found && plural(found.path) : table(db);
  if (place === undefined) return "";
  const doing = saysMethod ? textOf(texts[`doing${method}`]) : "";
  return doing === "" ? place : doing.replace("{place}", place);
}

function inWords(name: string): string {
  return name
    .replaceAll("_", " ")
    .replace(/(?<=[a-z])(?=[A-Z])/g, " ")
    .trim();
}

/** Where the thing stands, if it has a place. */
export function addressOfThing({ model, name, record_id: id }: Row, resources: readonly ListOf[]): string | undefined {
  if (typeof id !== "string" || id === "") return undefined;
  if (model === record) return `/studio/tables/${encodeURIComponent(textOf(name))}?open=${encodeURIComponent(id)}`;
  const path = resources.find((one) => one.model !== undefined && one.model === model)?.path;
  return path === undefined || path.includes("{")
    ? undefined
    : `/studio${places[path] ?? path}/${encodeURIComponent(id)}`;
}

/** Those that the Studio has at another address than the API. */
const places: Readonly<Record<string, string>> = {
  "/account/users": "/account/people",
  "/account/api_tokens": "/account/tokens",
  "/connect/flow_processes": "/connect/processes",
  "/core/mail_templates": "/account/mail_texts",
};

/** The models that something in the log may be about, each once. */
export function modelsOf(resources: readonly ListOf[]): { readonly model: string; readonly path: string }[] {
  const all = resources.flatMap(({ path, model }) => (model === undefined ? [] : [[model, { model, path }] as const]));
  return [...new Map(all.toReversed()).values()].toReversed();
}

/** Changes and deletions of records, and deleted tables. */
export function canTakeBack({ model, action }: Row): boolean {
  return (
    (model === record && (action === "update" || action === "delete")) || (model === "Core::Db" && action === "delete")
  );
}

/** The entry of a record's history before the one that this change is: what it was then is brought back. */
export function entryBefore(history: readonly Row[], { at, changes }: Row): number | undefined {
  const fields = Object.keys(isMap(changes) ? changes : {});
  const when = Date.parse(textOf(at));
  const nearMs = 10_000;
  const inOrder = history.toSorted((a, b) => Number(a["n"]) - Number(b["n"]));
  const found = inOrder.findLastIndex((one) => {
    const changed = isMap(one["changes"]) ? one["changes"] : {};
    return Math.abs(Date.parse(textOf(one["at"])) - when) < nearMs && fields.every((field) => field in changed);
  });
  const before = inOrder[found - 1]?.["n"];
  return found > 0 && typeof before === "number" ? before : undefined;
}

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
  readonly field: (resource: R, name: string) => string;
  /** What the table of this short name is called. */
  readonly table: (code: string) => string;
}

export interface Sentence {
  readonly who: string;
  readonly words: string;
  /** What it was done to. */
  readonly thing: string;
}

const record = "Core::Record";
const mostFields = 3;
const textOf = (value: unknown) => (typeof value === "string" ? value : "");

/** "Ada Example" "changed Status of" "a record of orders". */
export function sentenceOf<R extends ListOf>(
  row: Row,
  { name, texts, resources, singular, field, table }: Words<R>,
): Sentence {
  const say = (word: string) => textOf(texts[word]);
  const who = name ?? whoOf(row, say("system"));
  const action = textOf(row["action"]);
  const resource = resources.find(({ model }) => model !== undefined && model === row["model"]);
  const thing = thingOf(row, resource && singular(resource.path), say, table);
  const done: Readonly<Record<string, string>> = {
    create: say("created"),
    delete: say("deleted"),
    "sign-in": say("signedIn"),
    "sign-out": say("signedOut"),
    "sign-in refused": say("signInRefused"),
    refused: say("refused"),
    export: say("exported"),
    "secret shown": say("secretShown"),
    backup: say("backedUp"),
    "backup failed": say("backupFailed"),
  };
  if (action === "update") {
    const changes = Object.keys(isMap(row["changes"]) ? row["changes"] : {});
    const names = changes.map((one) => (resource && row["model"] !== record ? field(resource, one) : inWords(one)));
    const some =
      names.slice(0, mostFields).join(", ") + (names.length > mostFields ? ` +${names.length - mostFields}` : "");
    return { who, words: some === "" ? say("changed") : say("changedFields").replace("{fields}", some), thing };
  }
  const isAboutSelf = action.startsWith("sign-") || action.startsWith("backup");
  return { who, words: done[action] ?? action, thing: isAboutSelf ? "" : thing };
}

function thingOf(
  { model, name, action }: Row,
  kind: string | undefined,
  say: (word: string) => string,
  table: (code: string) => string,
): string {
  if (model === record) return say("recordOf").replace("{table}", table(textOf(name)));
  const own: Readonly<Record<string, string>> = {
    "Core::Comment": say("comment"),
    "Account::Setting": say("setting"),
    "Account::Membership": say("membership"),
  };
  const word = own[textOf(model)] ?? kind ?? inWords(textOf(model).split("::")[1] ?? "");
  const called = model === "Account::Setting" ? inWords(textOf(name)) : textOf(name);
  // What was refused, exported or shown is called by its address.
  if (action === "refused" || action === "export" || action === "secret shown") return called;
  return called === "" ? word : `${word} “${called}”`;
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

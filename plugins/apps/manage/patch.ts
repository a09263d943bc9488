/** Checks and applies the changes that a request makes to an app. behaviour 2.3, B.10. Pure. */
import { isModule, isView, modules } from "../choices.ts";
import { asciiOf, forbidden, invalid, isObject, isUuid, mistakes, type Author, type Caller, type User } from "platform";
import { holdsToken } from "../../tokens/api.ts";
import { limits, type Action, type AppPatch, type GivenAction, type Json } from "../fields.ts";
import { databasesOf, type AppRow, type SavedFields } from "../store.ts";
import { editOf, replaceInJson, type Edit, type JsonDatabases } from "../../jsondb/api.ts";

const standard = { appEngine: "svelte", cssEngine: "tailwind_all" } as const;

export const blank: SavedFields = {
  name: "",
  urlCode: "",
  description: null,
  ...standard,
  sourceCode: "",
  public: false,
  active: true,
  dbCode: null,
  showInModule: null,
  prompt: null,
  actions: [],
  fields: {},
  config: {},
};

/** Throws the 422 for rules that the schema of the route cannot express. */
export function checkPatch(given: AppPatch, carriedToken?: string): void {
  const wrong = mistakes();
  const tooLong = (field: "source_code" | "prompt", most: number) => {
    const text = given[field];
    // Counted only if it can matter: a code point is one or two UTF-16 units, which `length` counts.
    if (text && text.length > most && codePoints(text) > most) wrong.add(field, `may have at most ${most} characters`);
  };
  tooLong("source_code", limits.sourceCode);
  tooLong("prompt", limits.prompt);
  for (const field of ["source_code", "prompt"] as const)
    if (holdsToken(given[field] ?? "", carriedToken))
      wrong.add(field, "holds a real token, which everyone who sees the app could read: use actions or public methods");
  for (const field of ["actions", "fields", "config"] as const)
    if (given[field] && JSON.stringify(given[field]).length > limits.json)
      wrong.add(field, `may have at most ${limits.json} characters as JSON`);
  const place = given.show_in_module;
  if (place && !isModule(place) && !isView(place))
    wrong.add("show_in_module", `must be one of ${modules.join(", ")}, or a view like tasks/show`);
  if (given.url_code && cleanUrlCode(given.url_code).length > 100)
    wrong.add("url_code", "may have at most 100 characters");
  if (given.url_code && isUuid(cleanUrlCode(given.url_code))) wrong.add("url_code", "must not have the form of an id");
  const tile = given.fields?.["dashboard_widget"];
  if (tile !== undefined && tile !== null && typeof tile !== "boolean")
    wrong.add("fields", "dashboard_widget must be true or false");
  if (![undefined, null, 1, 2].includes(given.fields?.["home_width"] as null))
    wrong.add("fields", "home_width must be 1 or 2");
  if (!isDatabases(given.fields?.["dbs"]))
    wrong.add("fields", `dbs must be a list of at most ${mostDatabases} codes of databases`);
  for (const name of repeated(given.actions ?? [])) wrong.add("actions", `has more than one action named ${name}`);
  wrong.check();
}

const mostDatabases = 20;

function isDatabases(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  const isCode = (code: unknown) => typeof code === "string" && code !== "";
  return Array.isArray(value) && value.length <= mostDatabases && value.every(isCode);
}

/**
 * The app after the change. An empty `url_code` is replaced by one made from the name. `fields` is replaced as a whole, but
 * keeps `dashboard_widget` unless the new object sets it; the top-level field of that name takes precedence over both.
 */
export function applied(before: SavedFields, given: AppPatch): SavedFields {
  const change: { -readonly [K in keyof SavedFields]?: SavedFields[K] } = {};
  if (given.name !== undefined) change.name = given.name;
  if (given.url_code !== undefined) change.urlCode = cleanUrlCode(given.url_code ?? "");
  if (given.description !== undefined) change.description = given.description;
  if (given.app_engine !== undefined) change.appEngine = given.app_engine ?? standard.appEngine;
  if (given.css_engine !== undefined) change.cssEngine = given.css_engine ?? standard.cssEngine;
  if (given.source_code !== undefined) change.sourceCode = given.source_code;
  if (given.public !== undefined) change.public = given.public;
  if (given.active !== undefined) change.active = given.active;
  if (given.db_code !== undefined) change.dbCode = given.db_code || null;
  if (given.show_in_module !== undefined) change.showInModule = given.show_in_module || null;
  if (given.prompt !== undefined) change.prompt = given.prompt;
  if (given.actions !== undefined) change.actions = (given.actions ?? []).map(knownKeys);
  if (given.config !== undefined) change.config = given.config ?? {};
  if (given.fields !== undefined || given.dashboard_widget !== undefined) change.fields = fieldsAfter(before, given);
  return { ...before, ...change };
}

/** Whether both have the same build. */
export function sameCode(one: SavedFields, other: SavedFields): boolean {
  return one.sourceCode === other.sourceCode && one.appEngine === other.appEngine && one.cssEngine === other.cssEngine;
}

export function sameAction(one: Action, other: Action): boolean {
  return (
    one.action === other.action &&
    one.flow_code === other.flow_code &&
    (one.description ?? null) === (other.description ?? null) &&
    (one.public ?? false) === (other.public ?? false)
  );
}

/** The change that restores this version. */
export function patchTo(saved: SavedFields): AppPatch {
  return {
    name: saved.name,
    url_code: saved.urlCode,
    description: saved.description,
    app_engine: saved.appEngine,
    css_engine: saved.cssEngine,
    source_code: saved.sourceCode,
    public: saved.public,
    active: saved.active,
    db_code: saved.dbCode,
    show_in_module: saved.showInModule,
    dashboard_widget: tileOf(saved.fields) ?? null,
    prompt: saved.prompt,
    actions: saved.actions,
    fields: saved.fields,
    config: saved.config,
  };
}

/** The object that the replace endpoint's edited JSON parses to. */
export function objectOf(value: unknown, field: string): Json {
  if (!isObject(value)) throw invalid({ [field]: ["must be an object"] });
  return value;
}

function fieldsAfter(before: SavedFields, given: AppPatch): Json {
  const kept = tileOf(before.fields);
  const fields: Record<string, unknown> = { ...(given.fields === undefined ? before.fields : given.fields) };
  if (kept !== undefined && !Object.hasOwn(fields, "dashboard_widget")) fields["dashboard_widget"] = kept;
  if (given.dashboard_widget === null) delete fields["dashboard_widget"];
  else if (given.dashboard_widget !== undefined) fields["dashboard_widget"] = given.dashboard_widget;
  return fields;
}

function tileOf(fields: Json): boolean | undefined {
  const tile = fields["dashboard_widget"];
  return typeof tile === "boolean" ? tile : undefined;
}

function knownKeys({ action, flow_code, ...rest }: GivenAction): Action {
  return {
    action,
    flow_code,
    ...(rest.description !== undefined && { description: rest.description }),
    ...(typeof rest.public === "boolean" && { public: rest.public }),
  };
}

function codePoints(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff](?=[\udc00-\udfff])/g)?.length ?? 0);
}

function repeated(actions: readonly GivenAction[]): string[] {
  const names = actions.map(({ action }) => action);
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))];
}

/** Removes the characters that an address cannot contain: "Moja apka!" -> "Mojaapka", "zażółć" -> "zazolc". */
export function cleanUrlCode(given: string): string {
  return asciiOf(given).replaceAll(/[^A-Za-z0-9_-]/g, "");
}

// The replace endpoint: replaces text in the source, the prompt or `fields`. behaviour 4.3.

export const editable = ["source_code", "fields", "prompt"] as const;

export type EditBody = Parameters<typeof editOf>[0] & { readonly field: (typeof editable)[number] };

/** Throws the 422: nothing to search for, not found, or the result is too large. */
export function edited(row: AppRow, body: EditBody): AppPatch {
  const { field } = body;
  const edit = editOf(body);
  if (field === "fields") {
    const done = replaceInJson(row.fields, edit);
    if ("mistake" in done) throw invalid({ [done.field]: [done.mistake] });
    return { fields: objectOf(done.value, field), dashboard_widget: tileIn(done.value) };
  }
  const text = replaceInText((field === "prompt" ? row.prompt : row.sourceCode) ?? "", edit);
  if (field === "prompt") return { prompt: text };
  if (!/\S/.test(text)) throw invalid({ source_code: ["can't be blank"] });
  return { source_code: text };
}

function replaceInText(text: string, { oldString, newString, all }: Edit): string {
  const at = text.indexOf(oldString);
  if (at < 0) throw invalid({ old_string: ["is not found"] });
  if (!all) return text.slice(0, at) + newString + text.slice(at + oldString.length);
  const parts = text.split(oldString);
  // Computed before the text is built: a short text may occur often, and its replacement may be large.
  const length = text.length + (parts.length - 1) * (newString.length - oldString.length);
  if (length > 2 * limits.sourceCode) throw invalid({ new_string: ["makes the text too long"] });
  return parts.join(newString);
}

/** The author saw all of `fields` here, so a `dashboard_widget` that was edited away is gone. */
function tileIn(fields: unknown): boolean | null {
  const tile = Object(fields)["dashboard_widget"];
  return typeof tile === "boolean" ? tile : null;
}

// Who may write an app, beyond the privilege `apps`. behaviour B.10.

/** Who writes. */
export interface AppAuthor extends Author {
  readonly user: User | { readonly id: number | null };
  readonly within?: Caller["within"];
  readonly narrowedTo?: readonly string[];
  /** Null = all of them (a command, another plugin). */
  readonly privileges: ReadonlySet<string> | null;
}

/** The rights that somebody may lend to an app. */
interface Rights {
  readonly mayTrust: boolean;
  readonly mayOpenDatabases: boolean;
  readonly mayNameFlows: boolean;
}

export function rightsOf({ user, narrowedTo = [], privileges }: AppAuthor): Rights {
  return {
    // A narrowed token could widen itself: its app would run with the full session of an administrator.
    mayTrust: privileges === null || ("role" in user && user.role === "admin" && narrowedTo.length === 0),
    mayOpenDatabases: privileges === null || privileges.has("dbs"),
    mayNameFlows: privileges === null || privileges.has("flows"),
  };
}

/**
 * Throws the 403 if a token that opens only some databases would have an app use another one: the app reads with the
 * rights of whoever opens it.
 */
export async function mustOpenAll(
  databases: Pick<JsonDatabases, "find" | "reaches">,
  { account, user, privileges, within }: AppAuthor,
  ...apps: (Pick<SavedFields, "dbCode" | "fields"> | undefined)[]
): Promise<void> {
  if (within === undefined || privileges === null || !("role" in user)) return;
  for (const code of new Set(apps.flatMap((app) => (app ? databasesOf(app) : [])))) {
    const isOpen =
      (await databases.find(account.id, code)) &&
      (await databases.reaches(account.id, code, "read", async () => [{ user, privileges, within }]));
    if (!isOpen) throw forbidden(`\`db_code\`, \`fields.dbs\`: your token does not open the database ${code}`);
  }
}

interface Write {
  /** Undefined = the app is new. */
  readonly before: (SavedFields & Pick<AppRow, "trusted">) | undefined;
  readonly after: SavedFields;
  readonly trusted: boolean;
}

/**
 * Throws the 403. Everyone with `apps` may write every app in the account, except for three things that would lend them
 * others' rights: a trusted app runs with its viewer's session, an app with a database opens it to every viewer with
 * `dbs`, and an action runs its flow for anyone who asks.
 */
export function mustBeAllowed({ mayTrust, mayOpenDatabases, mayNameFlows }: Rights, write: Write): void {
  const { before, after, trusted } = write;
  if ((trusted || before?.trusted) && !mayTrust)
    throw forbidden("`trusted`: only an admin may create or change a trusted app, with a token that is not narrowed");
  const [known, named] = [before ? databasesOf(before) : [], databasesOf(after)];
  const isNew = named.some((code) => !known.includes(code));
  const opens = isNew || (named.length > 0 && before !== undefined && !sameCode(before, after));
  if (opens && !mayOpenDatabases)
    throw forbidden("`db_code`, `fields.dbs`: the code of an app with a database needs the privilege `dbs`");
  // Existing actions stay allowed, also when they are sent along with other changes.
  const names = after.actions.some((action) => !before?.actions.some((one) => sameAction(one, action)));
  if (names && !mayNameFlows) throw forbidden("`actions`: naming a flow needs the privilege `flows`");
}

/** Throws the 403. A draft runs in its sandbox with the saved app's database and actions, for whoever opens its page. */
export function mustBeAllowedToDraft(
  { privileges }: Pick<Caller, "privileges">,
  saved: SavedFields,
  after: SavedFields,
): void {
  const rights = { mayTrust: false, mayOpenDatabases: privileges.has("dbs"), mayNameFlows: false };
  const { dbCode, fields, actions } = saved;
  mustBeAllowed(rights, {
    before: { ...saved, trusted: false },
    after: { ...after, dbCode, fields, actions },
    trusted: false,
  });
}

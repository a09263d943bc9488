/** The private API for other plugins, without HTTP. */
import { service, parseExactly, refuseUnstorable, field, invalid, Type } from "platform";
import type { ExactNumber, Caller, RequestInput, Tx, Static } from "platform";

/** A record as the private API answers it. */
export interface ApiRecord {
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly table_name: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  /** Where it is asked for: path to flat record, list or null. */
  readonly expand?: Readonly<Record<string, unknown>>;
}

export interface RecordWrite {
  /** In a database with tables, a new record without it is in no table, and an updated one stays in its table. */
  readonly tableName?: string | null | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface RecordUpdate extends RecordWrite {
  /** All of them must hold of the record as it is, or nothing is written (412). */
  readonly conditions?: readonly SearchCondition[] | undefined;
  /** Is added to fields of the record as it is: to a missing one or null as to 0. 422 for a field that is no number. */
  readonly increment?: Readonly<Record<string, number | ExactNumber>> | undefined;
}

/**
 * One condition of a search. Conditions with a `group` form numbered groups, of which one must hold whole; the others
 * must hold.
 */
export interface SearchCondition {
  readonly group?: string | undefined;
  readonly field: string;
  readonly op: "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "null";
  /** A list is for `in`; as a text its values are separated by commas. */
  readonly value: string | readonly string[];
  /** For `eq` and `ne`: whether the value is a LIKE pattern. Undefined: if it has `*` or `%`, which are wildcards. */
  readonly isPattern?: boolean;
}

export interface RecordSearch {
  /** Parameters of the private search, with their lists: { q: "ann", sort: "-age", fields: ["name"] }. */
  readonly params?: Readonly<Record<string, string | readonly string[]>>;
  readonly conditions?: readonly SearchCondition[];
  /** The maximum number of records. Default 100. */
  readonly limit?: number;
  /** Links to follow, as the parameter of a request has them. Whoever asks must have read `databasesAlong` them. */
  readonly expand?: readonly string[] | undefined;
  /**
   * With it records have their rollups: null where it says that the program may not read all of the database of which
   * they are.
   */
  readonly reads?: ((db: string) => Promise<boolean>) | undefined;
}

/** A database as a request gives it (behaviour 4.4). Fields that are left out stay as they are. */
export interface NewDatabase {
  readonly name: string;
  readonly code: string;
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly public_methods?: Readonly<Record<string, unknown>>;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** How a browser is recognised, for plugins that show it a page. */
export interface BrowserVisitor {
  /** The value of `{cookie_key}` (behaviour 2.4). */
  readonly cookieKey: string;
  /** Send these headers with the page: they set or renew the browser's cookie. */
  readonly headers: { readonly "set-cookie"?: string };
}

/** `db` is an id or a code. */
export interface RecordRef {
  readonly db: string;
  readonly id: string;
}

export interface ReadableRecord extends RecordRef {
  /** Fields that are hidden from the caller, of this record or of others, under former names too. */
  readonly hidden: ReadonlySet<string>;
}

/** `db` is the database's code; `title` is what people know the record by, else its id. */
export interface FoundRecord extends RecordRef {
  readonly title: string;
}

/** Something that waits for a person, as `GET /core/inbox` shows it. */
export interface InboxItem extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly kind: string;
  readonly created_at: string;
  /** When they were done with it. */
  readonly read_at: string | null;
}

/** Of a person, the newest first, at most so many; `open`: only what they are not done with. */
export type InboxSource = (
  caller: Caller,
  asked: { readonly most: number; readonly open: boolean },
) => Promise<readonly InboxItem[]>;

/**
 * `db` is an id or a code. An unknown database or record throws 404; data that does not fit the schema throws 422 by
 * field.
 */
export interface JsonDatabases {
  /** The visitor that a page is shown to. An app's token carries the key that its page was given. */
  visitor(input: Pick<RequestInput, "request" | "account" | "caller" | "app" | "ip" | "secure">): BrowserVisitor;
  /**
   * Counts bytes that an anonymous visitor stores elsewhere by `store` against the same daily limit as bytes in
   * databases, unless it throws. 429 above the limit.
   */
  visitorStores<T>(ip: string, bytes: number, store: () => Promise<T>): Promise<T>;
  /**
   * The database with its id, code and table names; undefined if the account has none by this key. `tables` is null if
   * the schema has no tables; `open` are the operations that visitors may call.
   */
  find(
    accountId: number,
    db: string,
  ): Promise<
    | {
        readonly id: string;
        readonly code: string;
        readonly tables: readonly string[] | null;
        readonly open: readonly string[];
      }
    | undefined
  >;
  /**
   * Whether all these people may use all records of the database so far, with all their fields; true for a database
   * without `access`. null is somebody unknown; a caller counts as far as their token opens it. The people are asked for only where there is a list.
   */
  reaches(
    accountId: number,
    db: string,
    level: "read" | "add" | "edit",
    people: () => Promise<readonly (number | null | Pick<Caller, "user" | "privileges" | "within">)[]>,
  ): Promise<boolean>;
  /**
   * The ids of the databases that these links lead through, and of those that its rollups are of. 400 for what is no
   * link; an unknown database has none.
   */
  databasesAlong(
    accountId: number,
    db: string,
    paths: readonly string[],
    andRollups?: boolean,
  ): Promise<readonly string[]>;
  /** Of records, those that the caller may read. */
  readable(caller: Caller, records: readonly RecordRef[]): Promise<readonly ReadableRecord[]>;
  /**
   * Records that have these words in their title or an indexed string, of the databases that the caller may read: the
   * newest few of each of the twenty databases whose records are the newest.
   */
  findEverywhere(caller: Caller, words: string): Promise<readonly FoundRecord[]>;
  /** Names the fields that the schema of a table, or of all, does not know; the data may have them. */
  fieldHints(accountId: number, db: string, table: string | null, fields: Iterable<string>): Promise<readonly string[]>;
  /** Names the fields at the other end of links, which the searches and conditions here do not follow. */
  linkFaults(accountId: number, db: string, table: string | null, fields: Iterable<string>): Promise<readonly string[]>;
  /** Creates the database of this code, or updates the existing one. `userId` null = no person (a command). */
  put(
    by: { readonly accountId: number; readonly userId: number | null },
    db: NewDatabase,
  ): Promise<{ readonly id: string; readonly done: "made" | "changed" | "unchanged" }>;
  /**
   * The data as `create` (`isNew`) or `update` would store it, and their 422; nothing is stored. Of other records, so of
   * links and unique values, nothing is looked up. Undefined if the account has no such database.
   */
  asWritten(
    accountId: number,
    db: string,
    record: RecordWrite & { readonly isNew: boolean },
  ): Promise<RecordWrite["data"] | undefined>;
  create(accountId: number, db: string, record: RecordWrite): Promise<ApiRecord>;
  get(accountId: number, db: string, id: string, shown?: Pick<RecordSearch, "expand" | "reads">): Promise<ApiRecord>;
  /** Merges `data` key by key. `tableName` null takes the record out of its table. */
  update(accountId: number, db: string, id: string, record: RecordUpdate): Promise<ApiRecord>;
  delete(accountId: number, db: string, id: string): Promise<void>;
  /** Flat records. */
  search(accountId: number, db: string, search: RecordSearch): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** The form of up to 30 fields without links, rollups, files and `unique`, or the mistakes in them. */
  formOf(fields: unknown, timezone: string): { readonly form: Form } | { readonly mistakes: string[] };
  /** To be called in `setup`. */
  addToInbox(source: InboxSource): void;
  /** The writes as part of a transaction: they and their events commit with it or not at all. */
  within(tx: Tx): Pick<JsonDatabases, "create" | "update" | "delete">;
}

export const jsonDatabases = service<JsonDatabases>("jsondb.databases");

/** Fields as a table's, for what is no record: a form that people fill in. */
export interface Form {
  /** The values as they are kept. Throws the 422 that names the field, also one that the form does not have. */
  take(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
}

export const expandLimits = { paths: 10, depth: 3, records: 5_000, characters: 8_000_000 } as const;

/** What is wrong with the number or the depth of the paths of `expand`. */
export function pathFault(paths: readonly string[]): string | undefined {
  if (paths.length > expandLimits.paths) return `takes at most ${expandLimits.paths} paths`;
  const deep = paths.find((path) => path.split(".").length > expandLimits.depth);
  return deep && `takes no path that is more than ${expandLimits.depth} deep: ${deep.slice(0, 100)}`;
}

// The replace endpoint's edit of a JSON value as text. behaviour 4.4, B.7.

export interface Edit {
  readonly oldString: string;
  readonly newString: string;
  /** Every occurrence instead of the first. */
  readonly all: boolean;
}

const optionalText = Type.Optional(Type.String());

/** The fields of a replacement beside the one that names where. behaviour 4.3 has two names for each text. */
export const Replacement = Type.Object({
  old_string: optionalText,
  new_string: optionalText,
  old: optionalText,
  new: optionalText,
  replace_all: Type.Optional(field.nullable(field.flag())),
});

/** 422 if there is nothing to search for, or nothing to put in its place. */
export function editOf(body: Static<typeof Replacement>): Edit {
  const oldString = body.old_string ?? body.old;
  const newString = body.new_string ?? body.new;
  if (!oldString) throw invalid({ old_string: ["can't be blank"] });
  if (newString === undefined) throw invalid({ new_string: ["is required"] });
  return { oldString, newString, all: body.replace_all === true };
}

/** Replaces in the compact text, or in the text indented by two if the compact one does not contain `oldString`. */
export function replaceInJson(value: unknown, edit: Edit): { value: unknown } | { mistake: string; field: string } {
  const forms = [JSON.stringify(value ?? null), JSON.stringify(value ?? null, null, 2)];
  const text = forms.find((form) => form.includes(edit.oldString));
  if (text === undefined) return { field: "old_string", mistake: "is not found" };
  const parts = edit.all ? text.split(edit.oldString) : splitOnce(text, edit.oldString);
  // Counted before it is built: a quotation mark occurs often, and the new text may be large.
  const length = text.length + (parts.length - 1) * (edit.newString.length - edit.oldString.length);
  if (length > maxLength) return { field: "new_string", mistake: "makes the value too large" };
  const replaced = parts.join(edit.newString);
  try {
    const edited = parseExactly(replaced);
    refuseUnstorable(edited);
    return { value: edited };
  } catch {
    return { field: "new_string", mistake: "makes the value invalid JSON" };
  }
}

const maxLength = 1_000_000;

function splitOnce(text: string, at: string): string[] {
  const position = text.indexOf(at);
  return [text.slice(0, position), text.slice(position + at.length)];
}

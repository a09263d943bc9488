/** What other plugins may do with databases: the private API without HTTP. */
import { service, type RequestInput, type Tx } from "platform";

/** A record as the private API answers it. */
export interface ApiRecord {
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly table_name: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface RecordWrite {
  /** Of a database with tables: a new record without it goes to none of them, a changed one stays in its own. */
  readonly tableName?: string | null | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A database as a request makes one (behaviour 4.4). What is left out stays as it is. */
export interface NewDatabase {
  readonly name: string;
  readonly code: string;
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly public_methods?: Readonly<Record<string, unknown>>;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** What a browser is known by, for whoever shows it a page. */
export interface BrowserVisitor {
  /** The value of `{cookie_key}` (behaviour 2.4). */
  readonly cookieKey: string;
  /** To be sent along: it gives the browser its cookie, or renews it. */
  readonly headers: { readonly "set-cookie"?: string };
}

/** `db` is an id or a code. What is not there throws 404, what does not fit its schema 422 by field. */
export interface JsonDatabases {
  /** Who a page is shown to; an app's token brings what its page was given. */
  visitor(input: Pick<RequestInput, "request" | "account" | "caller" | "app" | "ip" | "secure">): BrowserVisitor;
  /** Counts what a visitor without sign-in stores elsewhere as what they store in databases: 429 once it is too much a day. */
  visitorStores(ip: string, bytes: number): Promise<void>;
  /** Whether the account has such a database, its other names, and its tables where it has some. */
  find(
    accountId: number,
    db: string,
  ): Promise<{ readonly id: string; readonly code: string; readonly tables: readonly string[] | null } | undefined>;
  /** Makes the database of this code, or changes the one that stands there to it. `userId` null = no person (a command). */
  put(
    by: { readonly accountId: number; readonly userId: number | null },
    db: NewDatabase,
  ): Promise<{ readonly id: string; readonly done: "made" | "changed" | "unchanged" }>;
  create(accountId: number, db: string, record: RecordWrite): Promise<ApiRecord>;
  get(accountId: number, db: string, id: string): Promise<ApiRecord>;
  /** Merges `data` key by key. `tableName` null takes the record out of its table. */
  update(accountId: number, db: string, id: string, record: RecordWrite): Promise<ApiRecord>;
  delete(accountId: number, db: string, id: string): Promise<void>;
  /** By the parameters of the private search, e.g. { "filter[city]": "Łódź", sort: "-age" }; flat records. */
  search(
    accountId: number,
    db: string,
    params: Readonly<Record<string, string>>,
  ): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** The writes as part of a transaction: they and their events are committed with it, or not at all. */
  within(tx: Tx): Pick<JsonDatabases, "create" | "update" | "delete">;
}

/** The replace endpoint's edit, and what counts as one client for limits: apps have the like. */
export { replaceInJson } from "./databases/replace.ts";

export const jsonDatabases = service<JsonDatabases>("jsondb.databases");

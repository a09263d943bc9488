/** A database as requests use it: parsed once, kept in a cache. Pure. */
import { forbidden, HttpError, invalid, notFound } from "platform";
import { noMethods, parsePublicMethods, type PublicMethods } from "./public-methods.ts";
import { noTable, parseSchema, visibleSchema, type Schema, type Table } from "./schema.ts";
import { formerNames, formerOf, pendingRenames, type Former, type PendingRename } from "./renames.ts";
import { keySetsOf, type KeySet } from "./unique.ts";
import { parseAccess, type Access, type Grant, type Level } from "../access/access.ts";
import { hiddenAlways, whole, type Reach, may, mayAll, model, reachIn, type Viewer } from "../access/reach.ts";

interface Facts {
  readonly id: string;
  readonly accountId: number;
  readonly code: string;
  /** The version of everything that the API shows of the database. */
  readonly version: number;
  readonly schemaVersion: number;
  /** The version of the rules by which records are checked. */
  readonly rulesVersion: number;
  readonly planVersion: number;
  /** The time zone of the account, which decides what a bare day means in a filter. */
  readonly timezone: string;
  /** The order of its strings: that of the account's language. */
  readonly collation: string;
  /** The collation by whose indexes equal strings are found. */
  readonly equalsBy: string;
  /** Writes of its records are logged in `record_changes`. */
  readonly live: boolean;
}

interface Keyed {
  /** The keys of its unique fields. */
  readonly keySets: readonly KeySet[];
  /** Its records of an older plan have these old names. */
  readonly renames: readonly PendingRename[];
  /** The fields that had other names, or are gone. */
  readonly former: readonly Former[];
}

/** A database as somebody may use it: statements about records take no other. */
export interface Database extends Facts, Keyed {
  /** Without the fields that are hidden. */
  readonly schema: Schema;
  /** The whole schema, by which records are checked and indexed. */
  readonly rules: Schema;
  readonly reach: Reach;
  readonly publicMethods: PublicMethods;
  /** Every record is indexed by this plan. Before that, index columns are written but not read. */
  readonly indexed: boolean;
  /** The shapes of search that have an index of their own. */
  readonly learned: ReadonlySet<string>;
  /** Some grant has conditions: a change may take a record away from those who see it. */
  readonly isConditional: boolean;
}

/** A database before it is decided what somebody may do in it (reach.ts). */
export interface StoredDatabase extends Pick<Facts, "id" | "accountId" | "code" | "version"> {
  readonly access: Access;
  /** For programs, and for whoever may do everything. */
  readonly whole: Database;
  /** The same object for the same reach of the same person, so that what is asked at once goes together. */
  narrowed(reach: Reach): Database;
}

/** The columns of a row of `dbs` that a Database is made from. */
export interface DatabaseRow extends Facts {
  readonly access?: unknown;
  readonly schema: unknown;
  readonly publicMethods: unknown;
  readonly indexedVersion: number;
  readonly learned?: readonly string[];
  readonly keySets?: unknown;
  readonly renames?: unknown;
  readonly former?: unknown;
}

/** The whole database. */
export function databaseOf(row: DatabaseRow): Database {
  return storedDatabaseOf(row).whole;
}

export function storedDatabaseOf(row: DatabaseRow): StoredDatabase {
  const parsed = parseSchema(row.schema, true);
  const methods = parsePublicMethods(row.publicMethods);
  // What is stored was checked by this or an older version of the program.
  const schema = "schema" in parsed ? parsed.schema : { multiTable: false, tables: new Map([["", noTable]]) };
  const grants = storedAccess(row.access, schema);
  const all: Database = {
    id: row.id,
    accountId: row.accountId,
    code: row.code,
    schema,
    rules: schema,
    reach: whole,
    publicMethods: "publicMethods" in methods ? methods.publicMethods : noMethods,
    version: row.version,
    schemaVersion: row.schemaVersion,
    rulesVersion: row.rulesVersion,
    planVersion: row.planVersion,
    indexed: row.indexedVersion === row.planVersion,
    live: row.live,
    timezone: row.timezone,
    collation: row.collation,
    equalsBy: row.equalsBy,
    learned: new Set(row.learned),
    keySets: keySetsOf(row.keySets),
    renames: pendingRenames(row.renames),
    former: formerOf(row.former),
    isConditional: grants?.some(({ where }) => where.length > 0) ?? false,
  };
  const { id, accountId, code, version } = all;
  return {
    id,
    accountId,
    code,
    version,
    access: grants && grants.map((one) => hidingFormer(one, all.renames)),
    whole: all,
    narrowed: narrower(all),
  };
}

/** Stored grants were checked when they were saved; a list that is not understood opens nothing. */
export function storedAccess(access: unknown, schema: Schema = { multiTable: false, tables: new Map() }): Access {
  const parsed = parseAccess(access, schema);
  return "access" in parsed ? parsed.access : [];
}

/** In any table: grants hide by name. */
function hidingFormer(grant: Grant, renames: readonly PendingRename[]): Grant {
  if (renames.length === 0 || grant.hide.size === 0) return grant;
  return { ...grant, hide: new Set([...grant.hide, ...formerNames(renames, grant.hide)]) };
}

const mostNarrowed = 200;

function narrower(all: Database): StoredDatabase["narrowed"] {
  const made = new Map<string, Database>();
  return (reach) => {
    const { grants, viewer } = reach;
    const key = JSON.stringify([viewer?.user.id, viewer?.app?.appId, grants.map(({ hide, ...one }) => [one, ...hide])]);
    const known = made.get(key);
    if (known) return known;
    if (made.size >= mostNarrowed) made.clear();
    const narrowed = { ...all, schema: visibleSchema(all.rules, hiddenAlways(reach)), reach };
    made.set(key, narrowed);
    return narrowed;
  };
}

export function tableNames({ schema }: Database): string[] {
  return [...schema.tables.keys()].filter((name) => name !== "");
}

/** The table that a record is written to: without a name the null table, 422 for an unknown one. behaviour B.7. */
export function tableForWrite(db: Database, name: string | null | undefined): Table {
  const wanted = name ?? "";
  const table = db.rules.tables.get(wanted);
  if (table) return table;
  const names = tableNames(db);
  const known = db.schema.multiTable ? `one of ${names.join(", ")}` : "left out: this database has no tables";
  throw invalid({ table_name: [`must be ${known}`] });
}

/**
 * Hints about a write that leaves `count` records in the null table of a database with tables, where no search finds
 * them and no rule checks them. `place`: where the request can name a table; undefined if it cannot.
 */
export function nullTableHints(db: Database, count: number, place?: string): string[] {
  if (count === 0 || !db.schema.multiTable) return [];
  const what = count === 1 ? "the record is" : `${count} records are`;
  const remedy = place === undefined ? "" : `: send table_name ${place}, one of ${tableNames(db).join(", ")}`;
  return [`${what} in no table, where no search looks${remedy}`];
}

/** The table that a search is narrowed to; behaviour 7: none or an unknown one in a multi-table database is 400. */
export function tableForSearch(db: Database, name: string | null | undefined): Table {
  const table = db.schema.tables.get(db.schema.multiTable ? (name ?? "") : "");
  if (table && (table.name !== "" || !db.schema.multiTable)) return table;
  const names = tableNames(db);
  const what = name ? "unknown table_name" : "table_name is required";
  throw new HttpError(400, { error: `${what}: available tables are ${names.join(", ")}`, available_tables: names });
}

/** Whether both schemas accept the same records and fill the same index columns. */
export function sameSchema(a: Schema, b: Schema): boolean {
  const rules = ({ tables }: Schema) =>
    [...tables.values()].map(({ name, fields }) => JSON.stringify([name, [...fields]])).toSorted();
  return rules(a).join() === rules(b).join() && sameIndexes(a, b);
}

/** Whether two schemas fill the same index columns and links from the same fields, so that records need no new index. */
export function sameIndexes(a: Schema, b: Schema): boolean {
  return printed(a) === printed(b);
}

function printed({ tables }: Schema): string {
  const linked = ({ fields }: Table) => [...fields].flatMap(([name, { link }]) => (link ? [name] : [])).toSorted();
  const plans = [...tables.values()].filter((table) => table.indexes.size > 0 || linked(table).length > 0);
  return JSON.stringify(
    plans
      .map((table) => JSON.stringify([table.name, table.indexFields, linked(table)]))
      .toSorted((a, b) => (a < b ? -1 : 1)),
  );
}

// Opens a database for somebody: gives what statements about records take.

export const needsDbs = "this needs the privilege `dbs`";

/** The database as the viewer may use it. 403 without the privilege; 404 if it does not open for them, or not so far. */
export function opened(stored: StoredDatabase, viewer: Viewer, needs: Level = "read"): Database {
  if (stored.access === null && !viewer.privileges.has("dbs")) throw forbidden(needsDbs);
  const db = tryOpen(stored, viewer);
  if (!db || !may(db, "read")) throw notFound("there is no such database");
  if (!may(db, needs)) throw forbidden(`this needs the level \`${needs}\` in the \`access\` of the database`);
  return db;
}

/** Undefined if it does not open for them at all. */
export function tryOpen(stored: StoredDatabase, viewer: Viewer): Database | undefined {
  const { id, code } = stored;
  const { app } = viewer;
  if (app && !app.dbCodes.includes(code) && !app.dbCodes.includes(id)) return undefined;
  const reach = reachIn(stored, viewer);
  return reach === whole ? stored.whole : reach && stored.narrowed(reach);
}

/** Whether all records are open to a person with all their fields; to anybody, where there is no `access`. */
export function isOpenTo(stored: StoredDatabase, person: Viewer | undefined, level: Level): boolean {
  if (stored.access === null && !person?.within?.[model]) return true; // the privilege is asked for elsewhere
  const db = person && tryOpen(stored, person);
  return db !== undefined && mayAll(db, level);
}

import { host } from "#host";
import manifest from "../../package.json" with { type: "json" };
import { satisfies } from "../base/versions.ts";

/** Facts about a resource without its types, for tests, the log of activity and lists of plugins. */
export interface ResourceFacts {
  readonly name: string;
  readonly table: string;
  readonly path: `/${string}`;
  readonly columns: readonly Column[];
  /** Columns of the table that are none of the resource's. */
  readonly others: readonly string[];
  readonly activity: LoggedTable;
}

export interface Column {
  readonly name: string;
  /** As PostgreSQL calls it (`udt_name`). */
  readonly type: string;
  readonly orNull: boolean;
}

/** How a table is logged. Every table with a column `account_id` is logged, except those with `false`. */
export interface LoggedTable {
  /** The name of a row; default: the table's name. */
  readonly model?: string;
  /** The column by which people know a row; default: `name`, `login`, `code` or `title`. */
  readonly name?: string;
  /** Columns whose values are never logged; those that are named like a secret or hold a sealed text never are. */
  readonly secrets?: readonly string[];
  /** Columns that the server keeps up to date by itself: a change of nothing else is not logged. */
  readonly quiet?: readonly string[];
  /** Rows with a value in this column are logged by these actions, at their creation and deletion; with others, not. */
  readonly by?: { readonly column: string; readonly actions: Readonly<Record<string, readonly [string, string]>> };
  /** Without a column `account_id`: the table whose row has it, and the column that names that row. */
  readonly account?: { readonly table: string; readonly column: string };
}

/**
 * The semantic version of "platform": what a plugin with `platform: "^1"` can rely on. It covers a plugin's imports,
 * `ctx` and the shapes of `definePlugin`, not the HTTP API and the database.
 */
export const platformVersion = "1.0.0";

/** The output of `--version`. */
export const versionText = `corestead ${manifest.version} (platform ${platformVersion}, ${host.name}, ${process.platform}-${process.arch})`;

const rangeForm = /^[\^~]?\d{1,6}(\.\d{1,6}){0,2}$/;

/** Why a plugin with this `platform` cannot run here, or undefined. `version` is that of "platform". */
export function platformMismatch(range: string | undefined, version = platformVersion): string | undefined {
  if (range === undefined) return undefined;
  if (!rangeForm.test(range)) return `platform: "${range}" is not a version like "^1" or "~1.2"`;
  if (satisfies(version, range)) return undefined;
  return `it needs platform ${range}, and this Corestead has ${version}: install versions that fit together`;
}

/** What the log shows of a table: what its plugin says of it, and else what its columns say. Pure. */
import type { LoggedTable, PluginFacts } from "platform";

export interface TableColumns {
  readonly name: string;
  readonly columns: readonly string[];
  /** Those of its primary key. */
  readonly keys: readonly string[];
}

/** The argument of a table's trigger. */
export interface Facts {
  readonly model: string;
  readonly keys: readonly string[];
  readonly name?: string;
  readonly secrets: readonly string[];
  readonly quiet: readonly string[];
  readonly by?: LoggedTable["by"];
  readonly account?: LoggedTable["account"];
}

const names = ["name", "login", "code", "title"];
/** What the server keeps of every change: the entry itself says when and by whom. */
const kept = ["account_id", "version", "created_at", "updated_at", "created_by_id", "updated_by_id"];
const secretName = /(^|_)(secret|password|passphrase|hash|sealed|token|key|seed|otp)(_|$)/;

export type Declared = ReadonlyMap<string, LoggedTable | false>;

export function declaredBy(plugins: readonly PluginFacts[]): Declared {
  return new Map(plugins.flatMap(({ activity = {} }) => Object.entries(activity)));
}

/** Undefined if the table is not logged. */
export function factsOf({ name, columns, keys }: TableColumns, declared: Declared): Facts | undefined {
  const given = declared.get(name);
  if (given === false || !(columns.includes("account_id") || name === "accounts" || given?.account)) return undefined;
  const { model = name, secrets = [], quiet = [], by, account } = given ?? {};
  const title = given?.name ?? names.find((one) => columns.includes(one));
  return {
    model,
    keys: keys.length > 1 ? keys.filter((key) => key !== "account_id" && !isSecret(key)) : keys,
    ...(title !== undefined && { name: title }),
    secrets: [...new Set([...secrets, ...columns.filter(isSecret)])],
    quiet: [...new Set([...kept, ...quiet])].filter((column) => columns.includes(column)),
    ...(by && { by }),
    ...(account && { account }),
  };
}

/** `api_token`, `password_hash`: a new plugin's secrets are none of the log's without a word from it. */
function isSecret(column: string): boolean {
  return secretName.test(column) && !/_(id|info|at|until)$/.test(column);
}

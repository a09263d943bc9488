/** Names of fields at the other end of links, as `customer.name`: they follow the fields that are renamed there. behaviour B.7.32. Pure. */
import type { Rename } from "./renames.ts";
import { parseSchema, type Schema, type Table } from "./schema.ts";

/** A database of an account that has links. */
export interface LinkingDb {
  readonly id: string;
  readonly code: string;
  readonly schema: unknown;
}

type Follow = (path: string, tables: readonly Table[]) => string;

/** What a path that begins in these tables becomes. `target` is the database whose fields are renamed, as it is now. */
export function renamedPath(all: readonly LinkingDb[], target: LinkingDb, renames: readonly Rename[]): Follow {
  const known = new Map<string, Schema | undefined>();
  const schemaOf = (key: string): Schema | undefined => {
    if (!known.has(key)) {
      const isIt = ({ id, code }: LinkingDb) => code === key || id === key.toLowerCase();
      const parsed = parseSchema(([target, ...all].find(isIt) ?? {}).schema, true);
      known.set(key, "schema" in parsed ? parsed.schema : undefined);
    }
    return known.get(key);
  };
  const isTarget = (key: string) => key === target.code || key.toLowerCase() === target.id;
  return (path, tables) => {
    const [first = "", ...rest] = path.split(".");
    const found = [first];
    let from = tables;
    for (const name of rest) {
      const links = from.flatMap(({ fields }) => fields.get(found.at(-1) ?? "")?.link ?? []);
      const ends = links.flatMap(({ db, table }) => tablesOf(schemaOf(db), table));
      const isRenamed = ({ table, from: old }: Rename) =>
        old === name && links.some((link) => isTarget(link.db) && (link.table ?? table) === table);
      // Of several tables one may still have the old name.
      const rename = ends.some(({ fields }) => fields.has(name)) ? undefined : renames.find(isRenamed);
      found.push(rename?.to ?? name);
      from = ends;
    }
    return found.join(".");
  };
}

export function tablesOf(schema: Schema | undefined, name: string | undefined): readonly Table[] {
  return [...(schema?.tables.values() ?? [])].filter((table) => name === undefined || table.name === name);
}

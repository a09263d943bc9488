/** What names a database or its fields goes on meaning them when they get other names. behaviour B.7.31, B.7.32. */
import { isObject, type Tx } from "platform";
import type { DbRow } from "./fields.ts";
import { changeLinking, holdCodes, linkingDbs, renameInViews, type ChangedDb } from "./naming-store.ts";
import { renamedPath, tablesOf, type LinkingDb } from "./paths.ts";
import { relinked } from "./relinks.ts";
import { newNames, renamedMethods, renamedRollups, renamedView, type Rename } from "./renames.ts";
import { parseSchema, type Schema } from "./schema.ts";

export type { ChangedDb } from "./naming-store.ts";

/** Links of other schemas go on meaning this database: by its new code, and by its id once it is deleted. */
export function relinkOthers(tx: Tx, { accountId, id }: { accountId: number; id?: string }, from: string, to: string) {
  return changeLinking(tx, accountId, id, (naming) => ({ ...naming, schema: relinked(naming.schema, from, to) }));
}

/**
 * Before a schema is saved: a database that it names anew gets no other code meanwhile, since that change would not know
 * of this schema. What the schema named before, that change finds.
 */
export async function holdLinked(tx: Tx, accountId: number, schema: Schema, before: Schema | undefined): Promise<void> {
  const named = ({ tables }: Schema) =>
    [...tables.values()].flatMap(({ fields }) =>
      [...fields.values()].flatMap(({ link, rollup }) => link?.db ?? rollup?.db ?? []),
    );
  const known = new Set(before && named(before));
  const added = named(schema).filter((db) => !known.has(db));
  if (added.length > 0) await holdCodes(tx, accountId, added);
}

/** Public methods by the new names, also of fields that they reach by links to the database itself. */
export function ownMethods(
  own: LinkingDb,
  schema: Schema,
  methods: Readonly<Record<string, unknown>>,
  renames: readonly Rename[],
) {
  const follow = renamedPath([], own, renames);
  return renamedMethods(
    methods,
    schema,
    (table) => (name) => newNames(renames, schema, table)(name).map((one) => follow(one, tablesOf(schema, table))),
  );
}

/**
 * Views, and rollups and public methods of other databases, go on meaning the same fields. Gives the databases that were
 * changed.
 */
export async function renameElsewhere(
  tx: Tx,
  { accountId, id, code, schema }: Pick<DbRow, "accountId" | "id" | "code" | "schema">,
  renames: readonly Rename[],
): Promise<readonly ChangedDb[]> {
  const own = schemaIn(schema);
  if (!own) return [];
  const all = await linkingDbs(tx, accountId);
  const follow = renamedPath(all, { id, code, schema }, renames);
  for (const table of own.tables.values()) {
    const names = newNames(renames, own, table.name);
    await renameInViews(tx, { accountId, id }, table.name, (view) =>
      renamedView(view, (name) => names(name).map((one) => follow(one, [table]))),
    );
  }
  for (const other of all.filter((one) => one.id !== id))
    for (const table of schemaIn(other.schema)?.tables.values() ?? [])
      await renameInViews(tx, { accountId, id: other.id }, table.name, (view) =>
        renamedView(view, (name) => [follow(name, [table])]),
      );
  const target = { keys: [code, id], multiTable: own.multiTable };
  return changeLinking(tx, accountId, id, (naming) => {
    const its = schemaIn(naming.schema);
    const methods = naming.publicMethods;
    const made =
      its && isObject(methods)
        ? renamedMethods(methods, its, (table) => (name) => [follow(name, tablesOf(its, table))])
        : methods;
    return {
      schema: renamedRollups(naming.schema, target, renames),
      publicMethods: JSON.stringify(made) === JSON.stringify(methods) ? methods : made,
    };
  });
}

export function schemaIn(stored: unknown): Schema | undefined {
  const parsed = parseSchema(stored, true);
  return "schema" in parsed ? parsed.schema : undefined;
}

/** The tables that a table links to and that are closed to those whom it is shared with: there the names stay empty. */
import { get, isMap, request, textOf } from "studio";
import { lookOf } from "../look/kinds.ts";
import { dbPath } from "../paths.ts";
import type { SchemaDraft } from "../schema.ts";
import { accessOf, grantsOf, withGrants, type Grant } from "./grants.ts";

export interface Closed {
  readonly db: string;
  readonly name: string;
  /** Whether it has a list of those whom it is open to; otherwise a grant would shut out everybody else. */
  readonly isListed: boolean;
}

/** By whom the grants are for. A table that one may not look into is left out: only others can open it. */
export async function closedTo(
  grants: readonly Grant[],
  schema: SchemaDraft,
  own: string,
): Promise<ReadonlyMap<string, readonly Closed[]>> {
  const fields = schema.tables.flatMap((table) => table.fields).map((field) => lookOf(field, "", (name) => name));
  const targets = [...new Set(fields.flatMap(({ target }) => target?.db ?? []))].filter((db) => db !== own);
  const found = await Promise.all(
    grants.map(async ({ to, hide }) => {
      const shown = targets.filter((db) =>
        fields.some(({ name, target }) => target?.db === db && !hide.includes(name)),
      );
      const closed = await Promise.all(shown.map((db) => closedOne(to, db).catch(() => undefined)));
      return [to, closed.filter((one) => one !== undefined)] as const;
    }),
  );
  return new Map(found);
}

async function closedOne(to: string, db: string): Promise<Closed | undefined> {
  const { json } = await get(dbPath(db));
  const { name, access }: Readonly<Record<string, unknown>> = isMap(json) ? json : {};
  const grants = grantsOf(access);
  const byList = grants ? grants.some((one) => one.to === to || one.to === "everyone") : to !== "role:guest";
  // Of somebody who is not active yet no more is known than the list says.
  const isOpen =
    to === "role:admin" ||
    (to.startsWith("user:") ? await isSeen(db, Number(to.slice(5))).catch(() => byList) : byList);
  return isOpen ? undefined : { db, name: textOf(name) || db, isListed: grants !== undefined };
}

async function isSeen(db: string, userId: number): Promise<boolean> {
  const path = dbPath(db).replace(/\.json$/, "/access/look.json");
  const { json } = await request("POST", path, { body: { user_id: userId } });
  return isMap(json) && json["may"] !== null;
}

/** Lets them read it, as far as its list goes by then. */
export async function openTo(to: string, db: string): Promise<void> {
  const { json, headers } = await get(dbPath(db));
  const before = grantsOf(isMap(json) ? json["access"] : undefined);
  const access = accessOf(withGrants(before ?? [], [to], "read", 0));
  await request("PATCH", dbPath(db), { body: { db: { access } }, ifMatch: headers.get("etag") ?? undefined });
}

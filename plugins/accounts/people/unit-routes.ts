/** Teams, departments and groups are alike: they differ in their kind alone. behaviour B.1. */
import { column, field, filter, resource, resourceRoutes, type At, type Route } from "platform";
import { unitKinds, type UnitKind } from "../api.ts";
import { lock } from "./account-store.ts";
import type { PeopleContext } from "./context.ts";
import { touchMembers } from "./user-store.ts";

const { integer, text, usual } = column;

interface UnitAt extends At, Pick<PeopleContext, "access"> {}

const unitOf = (kind: UnitKind) =>
  resource(kind, {
    table: "units",
    type: "Unit",
    fixed: { kind },
    path: `/account/${kind}s`,
    id: "integer",
    privilege: "users",
    model: "Account::Unit",
    authors: [],
    fields: {
      name: text({ ...usual.name, body: field.name(), example: "Sales" }),
      people: integer({
        label: ["People", "Osoby", "Personen"],
        by: "server",
        doc: "how many people are in it",
        from: "(select count(*) from memberships where unit_id = units.id)",
        example: 3,
      }),
    },
    // As every change of a person begins.
    begin: ({ caller }: UnitAt, tx) => lock(tx, caller.account.id),
    /** Its people stay, and are other ones without it. */
    async changed({ access }, { before, after }, tx) {
      if (!before || after) return undefined;
      const members = await touchMembers(tx, before.accountId, before.id);
      return () => access.forgetPeople(members);
    },
    filters: { q: filter.searching(["name"], "searches the name") },
    example: { id: 1 },
    request: ["name"],
    made: { people: 0 },
    change: { name: "Sales North" },
    docs: { create: { summary: `Add a ${kind}` }, delete: { summary: `Delete a ${kind}; its people stay` } },
  });

export const units = { team: unitOf("team"), department: unitOf("department"), group: unitOf("group") } as const;
export const allUnits = unitKinds.map((kind) => units[kind]);

/** Teams, departments and groups have the same routes. behaviour B.1. */
export function unitRoutes(ctx: PeopleContext): Route[] {
  return allUnits.flatMap((unit) => Object.values(resourceRoutes(unit, ctx)));
}

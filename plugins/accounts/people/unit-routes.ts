/** Teams, departments and groups are alike: they differ in their kind alone. behaviour B.1. */
import { column, expectedVersion, field, filter, lock, mustMatch, noContent, notFound, refOf, remove } from "platform";
import { resource, resourceRoutes, route, type Route } from "platform";
import { unitKinds, type UnitKind } from "../api.ts";
import * as accountStore from "./account-store.ts";
import type { PeopleContext } from "./context.ts";
import { touchMembers } from "./user-store.ts";

const { integer, text } = column;

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
      name: text({ label: ["Name", "Nazwa", "Name"], body: field.name(), example: "Sales" }),
      people: integer({
        label: ["People", "Osoby", "Personen"],
        by: "server",
        doc: "how many people are in it",
        from: "(select count(*) from memberships where unit_id = units.id)",
        example: 3,
      }),
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
  return allUnits.flatMap((unit) => Object.values({ ...resourceRoutes(unit, ctx), delete: deletion(unit, ctx) }));
}

/** Its people stay, and are other ones without it. */
function deletion(unit: (typeof allUnits)[number], ctx: PeopleContext): Route {
  return route(
    "DELETE",
    `${unit.path}/:id` as "/account/teams/:id",
    {
      summary: `Delete a ${unit.name}; its people stay`,
      access: { privilege: "users" },
      ifMatch: true,
      responses: { 204: null },
    },
    async ({ request, caller, params }) => {
      const accountId = caller.account.id;
      const members = await ctx.transaction(async (tx) => {
        // As every change of a person begins.
        await accountStore.lock(tx, accountId);
        const row = await lock(unit, tx, accountId, refOf(unit, params.id));
        if (!row) throw notFound();
        mustMatch(row, expectedVersion(request, row.id));
        const people = await touchMembers(tx, accountId, row.id);
        await remove(unit, tx, accountId, row.id);
        return people;
      });
      await ctx.access.forgetPeople(members);
      return noContent();
    },
  );
}

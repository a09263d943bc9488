import { expectedVersion, lock, mustMatch, noContent, notFound, refOf, remove, resourceRoutes, route } from "platform";
import type { ContextOf, At, Route } from "platform";
import type { AccessTable } from "./access.ts";
import type { AccountStore } from "./account-store.ts";
import { allUnits } from "./unit.ts";
import type { UnitStore } from "./unit-store.ts";

interface UnitContext extends ContextOf<At> {
  readonly accountStore: Pick<AccountStore, "lock">;
  readonly unitStore: Pick<UnitStore, "touchMembers">;
  readonly accessTable: Pick<AccessTable, "forgetPeople">;
}

/** Teams, departments and groups have the same routes. behaviour B.1. */
export function unitRoutes(ctx: UnitContext): Route[] {
  return allUnits.flatMap((unit) => Object.values({ ...resourceRoutes(unit, ctx), delete: deletion(unit, ctx) }));
}

/** Its people stay, and are other ones without it. */
function deletion(unit: (typeof allUnits)[number], ctx: UnitContext): Route {
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
        await ctx.accountStore.lock(tx, accountId);
        const row = await lock(unit, tx, accountId, refOf(unit, params.id));
        if (!row) throw notFound();
        mustMatch(row, expectedVersion(request, row.id));
        const people = await ctx.unitStore.touchMembers(tx, accountId, row.id);
        await remove(unit, tx, accountId, row.id);
        return people;
      });
      await ctx.accessTable.forgetPeople(members);
      return noContent();
    },
  );
}

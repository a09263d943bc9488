import {
  answer,
  created,
  field,
  integerId,
  list,
  noContent,
  notFound,
  ok,
  pageOf,
  pageQuery,
  route,
  Type,
  wildcardPattern,
} from "platform";
import type { BaseContext, Route } from "platform";
import { Unit } from "./answers.ts";
import type { AccessTable } from "./access.ts";
import type { AccountStore } from "./account-store.ts";
import { unitKinds, type UnitKind } from "./api.ts";
import { toApi, type UnitStore } from "./unit-store.ts";

const UnitInput = Type.Object({ name: field.name() });
const access = { privilege: "users" } as const;
const example = {
  id: 1,
  name: "Sales",
  people: 3,
  created_at: "2026-01-31T10:00:00.000Z",
  updated_at: "2026-01-31T10:00:00.000Z",
};

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction">;
  readonly unitStore: UnitStore;
  readonly accountStore: AccountStore;
  readonly accessTable: AccessTable;
}

/** Teams, departments and groups have the same routes. behaviour B.1. */
export function unitRoutes(needed: Needed): Route[] {
  return unitKinds.flatMap((kind) => routesOf(kind, needed));
}

function routesOf(kind: UnitKind, { ctx, unitStore, accountStore, accessTable }: Needed): Route[] {
  const path = `/account/${kind}s` as const;
  return [
    route(
      "GET",
      path,
      {
        summary: `List ${kind}s`,
        access,
        query: { q: "searches the name", ...pageQuery },
        answers: { 200: answer.list(Unit) },
        responses: { 200: [example] },
      },
      async ({ caller, query }) => {
        const q = query.get("q");
        const { rows, total } = await unitStore.list(
          caller.account.id,
          kind,
          q ? wildcardPattern(q) : undefined,
          pageOf(query),
        );
        return list(rows.map(toApi), total);
      },
    ),
    route(
      "GET",
      `${path}/:id`,
      { summary: `One ${kind}`, access, answers: { 200: Unit }, responses: { 200: example } },
      async ({ caller, params }) => {
        const row = await unitStore.byId(caller.account.id, kind, integerId(params.id));
        if (!row) throw notFound();
        return ok(toApi(row));
      },
    ),
    route(
      "POST",
      path,
      {
        summary: `Add a ${kind}`,
        access,
        body: { key: kind, schema: UnitInput },
        request: { name: "Sales" },
        answers: { 201: Unit },
        responses: { 201: { ...example, people: 0 } },
      },
      async ({ caller, body }) =>
        created(toApi(await ctx.transaction((tx) => unitStore.insert(tx, caller.account.id, kind, body.name)))),
    ),
    route(
      "PATCH",
      `${path}/:id`,
      {
        summary: `Change a ${kind}`,
        access,
        body: { key: kind, schema: Type.Partial(UnitInput) },
        request: { name: "Sales North" },
        answers: { 200: Unit },
        responses: { 200: { ...example, name: "Sales North" } },
      },
      async ({ caller, params, body }) => {
        const row = await unitStore.rename(caller.account.id, kind, integerId(params.id), body.name);
        if (!row) throw notFound();
        return ok(toApi(row));
      },
    ),
    route(
      "DELETE",
      `${path}/:id`,
      { summary: `Delete a ${kind}; its people stay`, access, responses: { 204: null } },
      async ({ caller, params }) => {
        const accountId = caller.account.id;
        const members = await ctx.transaction(async (tx) => {
          await accountStore.lock(tx, accountId);
          return unitStore.delete(tx, accountId, kind, integerId(params.id));
        });
        if (!members) throw notFound();
        await accessTable.forgetPeople(members);
        return noContent();
      },
    ),
  ];
}

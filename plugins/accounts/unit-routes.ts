import {
  answer,
  created,
  etag,
  expectedVersion,
  field,
  integerId,
  pageReply,
  mustMatch,
  noContent,
  notFound,
  ok,
  pageOf,
  pageQuery,
  route,
  Type,
  wildcardPattern,
} from "platform";
import type { BaseContext, Route, Tx } from "platform";
import { Unit } from "./answers.ts";
import type { AccessTable } from "./access.ts";
import type { AccountStore } from "./account-store.ts";
import { unitKinds, type UnitKind } from "./api.ts";
import { toApi, type UnitRow, type UnitStore } from "./unit-store.ts";

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
  /** Held until the transaction ends, in the version that the request names. */
  const locked = async (tx: Tx, accountId: number, id: number, request: Request): Promise<UnitRow> => {
    const row = await unitStore.lock(tx, accountId, kind, id);
    if (!row) throw notFound();
    mustMatch(row, expectedVersion(request, id));
    return row;
  };
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
        return pageReply(
          await unitStore.list(caller.account.id, kind, q ? wildcardPattern(q) : undefined, pageOf(query)),
          toApi,
        );
      },
    ),
    route(
      "GET",
      `${path}/:id`,
      { summary: `One ${kind}`, access, answers: { 200: Unit }, responses: { 200: example, 304: null } },
      async ({ caller, params }) => {
        const row = await unitStore.byId(caller.account.id, kind, integerId(params.id));
        if (!row) throw notFound();
        return ok(...shown(row));
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
        created(...shown(await ctx.transaction((tx) => unitStore.insert(tx, caller.account.id, kind, body.name)))),
    ),
    route(
      "PATCH",
      `${path}/:id`,
      {
        summary: `Change a ${kind}`,
        access,
        ifMatch: true,
        body: { key: kind, schema: Type.Partial(UnitInput) },
        request: { name: "Sales North" },
        answers: { 200: Unit },
        responses: { 200: { ...example, name: "Sales North" } },
      },
      async ({ request, caller, params, body }) => {
        const { id: accountId } = caller.account;
        const row = await ctx.transaction(async (tx) => {
          const before = await locked(tx, accountId, integerId(params.id), request);
          return unitStore.rename(tx, accountId, before.id, body.name ?? before.name);
        });
        return ok(...shown(row));
      },
    ),
    route(
      "DELETE",
      `${path}/:id`,
      { summary: `Delete a ${kind}; its people stay`, access, ifMatch: true, responses: { 204: null } },
      async ({ request, caller, params }) => {
        const accountId = caller.account.id;
        const members = await ctx.transaction(async (tx) => {
          await accountStore.lock(tx, accountId);
          const { id } = await locked(tx, accountId, integerId(params.id), request);
          return unitStore.delete(tx, accountId, id);
        });
        await accessTable.forgetPeople(members);
        return noContent();
      },
    ),
  ];
}

/** How many people are in it changes without a new version of it. */
function shown(row: UnitRow): Parameters<typeof ok> {
  const unit = toApi(row);
  return [unit, { etag: etag(row.id, row.version, unit) }];
}

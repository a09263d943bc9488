import { answer, created, etag, expectedVersion, field, list, noContent, notFound, ok } from "platform";
import { pageOf, pageQuery, route, Type, uuidOf, type BaseContext, type Route, type Static } from "platform";
import * as items from "./items.ts";
import * as itemStore from "./store.ts";
import type { ItemRow } from "./store.ts";

const ItemInput = Type.Object({ title: field.name(), text: Type.Optional(field.nullable(field.text(10_000))) });

/** The routes' answers: `/openapi.json` shows this type, and `toApi` must match it. */
const Item = answer.object("SamplePluginItem", {
  id: answer.uuid(),
  title: Type.String(),
  text: field.nullable(Type.String()),
  words: field.nullable(Type.Integer({ description: "null until they are counted" })),
  created_by_id: Type.Integer(),
  created_at: answer.time(),
  updated_at: answer.time(),
});

export const itemExample = {
  id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e0f",
  title: "Shelf",
  text: "Two boards and four screws.",
  words: 5,
  created_by_id: 1,
  created_at: "2026-01-31T10:00:00.000Z",
  updated_at: "2026-01-31T10:00:00.000Z",
};

const access = { privilege: "sample_plugin" } as const;

export function itemRoutes(ctx: BaseContext): Route[] {
  return [
    route(
      "GET",
      "/sample-plugin/items",
      {
        summary: "List items, the oldest first",
        access,
        query: pageQuery,
        answers: { 200: answer.list(Item) },
        responses: { 200: [itemExample] },
      },
      async ({ caller, query }) => {
        const { rows, total } = await itemStore.list(ctx.sql, caller.account.id, pageOf(query));
        return list(rows.map(items.toApi), total);
      },
    ),
    route(
      "GET",
      "/sample-plugin/items/:id",
      { summary: "One item", access, answers: { 200: Item }, responses: { 200: itemExample, 304: null } },
      async ({ caller, params }) => {
        const row = await itemStore.byId(ctx.sql, caller.account.id, uuidOf(params.id));
        if (!row) throw notFound();
        return ok(...shown(row));
      },
    ),
    route(
      "POST",
      "/sample-plugin/items",
      {
        summary: "Make an item",
        access,
        body: { key: "item", schema: ItemInput },
        request: { title: itemExample.title, text: itemExample.text },
        answers: { 201: Item },
        responses: { 201: { ...itemExample, words: null }, 422: { title: ["is required"] } },
      },
      async ({ caller, body }) => {
        const author = { accountId: caller.account.id, userId: caller.user.id };
        return created(...shown(await items.create(ctx, author, body)));
      },
    ),
    route(
      "PATCH",
      "/sample-plugin/items/:id",
      {
        summary: "Change an item",
        description: "What is left out stays as it is; `null` clears a field.",
        access,
        ifMatch: true,
        body: { key: "item", schema: Type.Partial(ItemInput) },
        request: { title: "Long shelf" },
        answers: { 200: Item },
        responses: { 200: { ...itemExample, title: "Long shelf" } },
      },
      async ({ caller, params, body, request }) => {
        const id = uuidOf(params.id);
        return ok(...shown(await items.update(ctx, caller.account.id, id, body, expectedVersion(request, id))));
      },
    ),
    route(
      "DELETE",
      "/sample-plugin/items/:id",
      { summary: "Delete an item", access, ifMatch: true, responses: { 204: null } },
      async ({ caller, params, request }) => {
        const id = uuidOf(params.id);
        await items.remove(ctx, caller.account.id, id, expectedVersion(request, id));
        return noContent();
      },
    ),
  ];
}

function shown(row: ItemRow): [body: Static<typeof Item>, headers: { etag: string }] {
  return [items.toApi(row), { etag: etag(row.id, row.version) }];
}

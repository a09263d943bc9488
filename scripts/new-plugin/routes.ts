import { created, etag, expectedVersion, field, list, noContent, notFound, ok } from "platform";
import { pageOf, route, Type, uuidOf, type Route } from "platform";
import type { Items } from "./items.ts";
import { toApi, type ItemRow, type ItemStore } from "./store.ts";

const ItemInput = Type.Object({ title: field.name(), text: field.text(10_000) });

export const itemExample = {
  id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e0f",
  title: "Shelf",
  text: "Two boards and four screws.",
  words: 5,
  created_at: "2026-01-31T10:00:00.000Z",
  updated_at: "2026-01-31T10:00:00.000Z",
};

const access = { privilege: "sample_plugin" } as const;

export function itemRoutes(store: ItemStore, items: Items): Route[] {
  return [
    route(
      "GET",
      "/sample-plugin/items",
      {
        summary: "List items, the oldest first",
        access,
        query: { limit: "1 to 1000, default 100", offset: "where the page begins" },
        responses: { 200: [itemExample] },
      },
      async ({ caller, query }) => {
        const { rows, total } = await store.list(caller.account.id, pageOf(query));
        return list(rows.map(toApi), total);
      },
    ),
    route(
      "GET",
      "/sample-plugin/items/:id",
      { summary: "One item", access, responses: { 200: itemExample } },
      async ({ caller, params }) => {
        const row = await store.byId(caller.account.id, uuidOf(params.id));
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
        responses: { 201: { ...itemExample, words: null }, 422: { title: ["is required"] } },
      },
      async ({ caller, body }) => created(...shown(await items.create(caller.account.id, body))),
    ),
    route(
      "PATCH",
      "/sample-plugin/items/:id",
      {
        summary: "Change an item",
        description: 'With `If-Match: "<etag>"` of a version that is no longer the latest: 412.',
        access,
        ifMatch: true,
        body: { key: "item", schema: Type.Partial(ItemInput) },
        request: { title: "Long shelf" },
        responses: { 200: { ...itemExample, title: "Long shelf" } },
      },
      async ({ caller, params, body, request }) => {
        const id = uuidOf(params.id);
        return ok(...shown(await items.update(caller.account.id, id, body, expectedVersion(request, id))));
      },
    ),
    route(
      "DELETE",
      "/sample-plugin/items/:id",
      { summary: "Delete an item", access, responses: { 204: null } },
      async ({ caller, params }) => {
        await items.remove(caller.account.id, uuidOf(params.id));
        return noContent();
      },
    ),
  ];
}

function shown(row: ItemRow): Parameters<typeof ok> {
  return [toApi(row), { etag: etag(row.id, row.version) }];
}

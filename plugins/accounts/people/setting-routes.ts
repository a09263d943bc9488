import { answer, etag, expectedVersion, field, list, pageOf, pageQuery, route, Type, type Route } from "platform";
import type { AccountSettings } from "./account-settings.ts";

const access = { privilege: "settings" } as const;

const Shown = answer.object("AccountSetting", {
  name: Type.String(),
  plugin: Type.String(),
  doc: Type.String(),
  value: Type.String(),
  standard: Type.String(),
  choices: Type.Array(Type.String()),
});

const example = {
  name: "shopping_list_max_items",
  plugin: "shopping-list",
  doc: "Items a list may have",
  value: "50",
  standard: "100",
  choices: [],
};

/** `/account/settings`: what plugins let each account decide. */
export function settingRoutes(settings: AccountSettings): Route[] {
  const shown = async (accountId: number, from = 0, to?: number) => {
    const { settings: rows, version } = await settings.list(accountId);
    return list(rows.slice(from, to), rows.length, { etag: etag(accountId, version, rows) });
  };
  return [
    route(
      "GET",
      "/account/settings",
      {
        summary: "List the account's settings",
        description:
          "The settings that plugins declare for accounts, with their values as text. `choices` are the only values of a setting that has no others.",
        access,
        query: pageQuery,
        answers: { 200: answer.list(Shown) },
        responses: { 200: [example], 304: null },
      },
      async ({ caller, query }) => {
        const { limit, offset } = pageOf(query);
        return shown(caller.account.id, offset, offset + limit);
      },
    ),
    route(
      "PATCH",
      "/account/settings",
      {
        summary: "Change settings of the account",
        description:
          "The body names settings; `null` restores the default. Either all of them change or none. Those of passwords, sessions and second factors, and what is logged, are changed by administrators alone (403). The ETag is that of all settings together.",
        access,
        ifMatch: true,
        body: { schema: Type.Object({ settings: field.object() }) },
        request: { settings: { [example.name]: "50" } },
        answers: { 200: answer.list(Shown) },
        responses: { 200: [example], 422: { [example.name]: ["must be a whole number from 1 to 1000"] } },
      },
      async ({ request, caller, body }) => {
        const { id } = caller.account;
        await settings.save(caller, body.settings, expectedVersion(request, id));
        return shown(id);
      },
    ),
  ];
}

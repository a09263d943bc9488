import { answer, field, ok, route, Type, type Route } from "platform";
import type { AccountSettings } from "./account-settings.ts";

const access = { privilege: "settings" } as const;

const Shown = answer.object("AccountSetting", {
  name: Type.String(),
  plugin: Type.String(),
  doc: Type.String(),
  value: Type.String(),
  standard: Type.String(),
});

const example = {
  name: "shopping_list_max_items",
  plugin: "shopping-list",
  doc: "Items a list may have",
  value: "50",
  standard: "100",
};

/** `/account/settings`: what plugins let each account decide. */
export function settingRoutes(settings: AccountSettings): Route[] {
  return [
    route(
      "GET",
      "/account/settings",
      {
        summary: "List the account's settings",
        description: "The settings that plugins declare for accounts, with their values as text.",
        access,
        answers: { 200: answer.list(Shown) },
        responses: { 200: [example] },
      },
      async ({ caller }) => ok(await settings.list(caller.account.id)),
    ),
    route(
      "PATCH",
      "/account/settings",
      {
        summary: "Change settings of the account",
        description: "The body names settings; `null` restores the default. Either all of them change or none.",
        access,
        body: { schema: Type.Object({ settings: field.object() }) },
        request: { settings: { [example.name]: "50" } },
        answers: { 200: answer.list(Shown) },
        responses: { 200: [example], 422: { [example.name]: ["must be a whole number from 1 to 1000"] } },
      },
      async ({ caller, body }) => {
        await settings.save(caller.account.id, caller.user.id, body.settings);
        return ok(await settings.list(caller.account.id));
      },
    ),
  ];
}

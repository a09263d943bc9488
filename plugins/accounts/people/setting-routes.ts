/** Settings of an account, and what user interfaces keep for a person. */
import {
  answer,
  contentHash,
  etag,
  expectedVersion,
  field,
  invalid,
  jsonText,
  list,
  mustMatch,
  pageOf,
  pageQuery,
  route,
  Type,
} from "platform";
import type { Caller, Route } from "platform";
import { lockPerson, preferencesOf, savePreferences } from "./account-store.ts";
import { AccountSetting } from "./account-settings.ts";
import type { PeopleContext } from "./context.ts";
import { preferenceFault } from "./preferences.ts";

const access = { privilege: "settings" } as const;

const example = {
  name: "shopping_list_max_items",
  plugin: "shopping-list",
  doc: "Items a list may have",
  value: "50",
  standard: "100",
  choices: [],
};

/** `/account/settings`: what plugins let each account decide. */
export function settingRoutes({ settings }: PeopleContext): Route[] {
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
        answers: { 200: answer.list(AccountSetting) },
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
        answers: { 200: answer.list(AccountSetting) },
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

const own = { signedIn: "they are one's own" } as const;
const preferencesExample = {
  "studio.dashboard": { tiles: [{ app: "019a9c1e-0000-7000-8000-000000000003", width: 2 }] },
};
const most = { names: 100, chars: 16_384 } as const;

const Preferences = answer.json();

/** `/account/me/preferences`: JSON that user interfaces keep for a person. */
export function preferenceRoutes(ctx: PeopleContext): Route[] {
  const shown = async ({ account, user }: Caller) => {
    const text = await preferencesOf(ctx.sql, { accountId: account.id, userId: user.id });
    return jsonText(200, text, { etag: etag(user.id, versionOf(text)) });
  };
  return [
    route(
      "GET",
      "/account/me/preferences",
      {
        summary: "One's own preferences",
        description:
          "What user interfaces keep for a person, by name: columns, the tiles of a dashboard. The server follows `mail.mentions` (false: comments that mention one come by no mail) and `mail.language` (`en`, `pl` or `de`).",
        access: own,
        answers: { 200: Preferences },
        responses: { 200: preferencesExample },
      },
      ({ caller }) => shown(caller),
    ),
    route(
      "PATCH",
      "/account/me/preferences",
      {
        summary: "Change one's own preferences",
        description: `By name; \`null\` removes one, others stay. All or none. At most ${most.names} names of 100 characters (letters, digits, \`.\`, \`_\`, \`:\`, \`-\`), each with ${most.chars} characters of JSON.`,
        access: own,
        ifMatch: true,
        body: { schema: Type.Object({ preferences: field.object() }) },
        request: { preferences: preferencesExample },
        answers: { 200: Preferences },
        responses: {
          200: preferencesExample,
          422: { "studio.dashboard": [`may have at most ${most.chars} characters of JSON`] },
        },
      },
      async ({ caller, body, request }) => {
        const changes = checkedPreferences(body.preferences);
        const whose = { accountId: caller.account.id, userId: caller.user.id };
        const expected = expectedVersion(request, caller.user.id, 16);
        await ctx.transaction(async (tx) => {
          await lockPerson(tx, whose);
          mustMatch({ version: versionOf(await preferencesOf(tx, whose)) }, expected);
          const count = await savePreferences(tx, whose, changes);
          if (count > most.names) throw invalid({ preferences: [`may have at most ${most.names} names`] });
        });
        return shown(caller);
      },
    ),
  ];
}

/** They are kept one by one, so the number that tells one state of all of them from another is made of their text. */
function versionOf(text: string): number {
  return Number.parseInt(contentHash(text).split("-")[1]?.slice(0, 9) ?? "", 36) || 1;
}

/** Name -> JSON text, or null. */
function checkedPreferences(given: Readonly<Record<string, unknown>>): Map<string, string | null> {
  const entries = Object.entries(given);
  if (entries.length > most.names) throw invalid({ preferences: [`may have at most ${most.names} names`] });
  return new Map(
    entries.map(([name, value]) => {
      if (!/^[A-Za-z0-9._:-]{1,100}$/.test(name))
        throw invalid({ preferences: ["has a name that is not 1 to 100 letters, digits, dots, colons, - or _"] });
      const fault = preferenceFault(name, value);
      if (fault !== undefined) throw invalid({ [name]: [fault] });
      const text = value === null ? null : JSON.stringify(value);
      if (text !== null && text.length > most.chars)
        throw invalid({ [name]: [`may have at most ${most.chars} characters of JSON`] });
      return [name, text];
    }),
  );
}

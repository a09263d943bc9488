/** What plugins let each account decide: `accountSettings` and `/account/settings`. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { definePlugin, ok, route, setting } from "platform";
import { plugins as builtIn } from "../../index.ts";
import {
  otherAccount,
  person,
  startTestApp,
  type Answer,
  type OtherAccount,
  type TestApp,
} from "../../../tests/harness.ts";
import { follower, traces } from "../../../tests/traces.ts";
import { accounts } from "../api.ts";

const accountSettings = {
  maxItems: setting.integer("lists_max_items", 100, "Items a list may have", { min: 1, max: 1000 }),
  loud: setting.flag("lists_loud", false, "Whether lists shout"),
};
const lists = definePlugin({
  name: "lists",
  needs: { accounts },
  accountSettings: { ...accountSettings, contract: setting.text("lists_contract", "", "The contract's number") },
  setup: (ctx) => ({
    routes: [
      route(
        "GET",
        "/lists/settings",
        { summary: "x", access: { signedIn: "a test" }, responses: { 200: {} } },
        async ({ caller }) => ok(await ctx.services.accounts.settingsOf(caller.account.id, accountSettings)),
      ),
    ],
  }),
});

let app: TestApp;
let other: OtherAccount;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...builtIn, lists, follower] });
  other = await otherAccount(app);
});
afterAll(() => app.stop());

const path = "/account/settings.json";
const save = (settings: unknown) => app.patch(path, { settings });
const inForce = async (account: Pick<TestApp, "get"> = app) => (await account.get("/lists/settings")).json;

/** What is refused leaves no row and no event. */
async function refused(ask: () => Promise<Answer>): Promise<Answer> {
  const before = await traces(app, "account_settings");
  const answer = await ask();
  expect(await traces(app, "account_settings")).toEqual(before);
  return answer;
}

describe("settings of an account", () => {
  test("have their standard values, and are listed with their words", async () => {
    expect(await inForce()).toEqual({ maxItems: 100, loud: false });
    expect((await app.get(path)).json).toContainEqual({
      name: "lists_max_items",
      plugin: "lists",
      doc: "Items a list may have",
      value: "100",
      standard: "100",
      choices: [],
    });
    const choices = Object.fromEntries(
      (await app.get(path)).json.map((one: { name: string; choices: string[] }) => [one.name, one.choices]),
    );
    expect(choices).toMatchObject({
      lists_loud: ["true", "false"],
      second_factor: ["optional", "admins", "everybody"],
    });
  });

  test("are changed for one account alone, and count at once", async () => {
    expect((await save({ lists_max_items: 50, lists_loud: true })).status).toBe(200);
    expect(await inForce()).toEqual({ maxItems: 50, loud: true });
    expect(await inForce(other)).toEqual({ maxItems: 100, loud: false });
    expect((await save({ lists_max_items: null })).status).toBe(200);
    expect(await inForce()).toEqual({ maxItems: 100, loud: true });
  });

  test("keep every digit of a number, as a number or as a text", async () => {
    const digits = "1234567890123456789012345678901234567890";
    for (const given of [JSON.rawJSON(digits), `${digits}1`]) {
      expect((await save({ lists_contract: given })).status).toBe(200);
      const shown = (await app.get(path)).json.find(({ name }: { name: string }) => name === "lists_contract");
      expect(shown.value).toBe(typeof given === "string" ? given : digits);
    }
    expect((await save({ lists_max_items: JSON.rawJSON(digits) })).json).toEqual({
      lists_max_items: [expect.stringContaining("1 to 1000")],
    });
  });

  const wrong: [settings: Record<string, unknown>, field: string][] = [
    [{ lists_max_items: 0 }, "lists_max_items"],
    [{ lists_max_items: "many" }, "lists_max_items"],
    [{ lists_max_items: [5] }, "lists_max_items"],
    [{ lists_loud: "perhaps" }, "lists_loud"],
    [{ PORT: 80 }, "PORT"],
    [{ ["__proto__"]: 1 }, "__proto__"],
    [{ lists_max_items: 7, lists_quiet: true }, "lists_quiet"],
  ];
  test.each(wrong)("%j: 422 for the setting, and nothing is changed", async (settings, name) => {
    const before = await inForce();
    const answer = await refused(() => save(settings));
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.json)).toEqual([name]);
    expect(await inForce()).toEqual(before);
  });

  test("take the privilege settings", async () => {
    const { token } = await person(app, { role: "user" });
    expect((await app.get(path, { token })).status).toBe(403);
    const changed = await refused(() => app.patch(path, { settings: { lists_loud: true } }, { token }));
    expect(changed.status).toBe(403);
    const granted = await person(app, { role: "user", privileges: ["settings"] });
    expect((await app.get(path, { token: granted.token })).status).toBe(200);
  });
});

test("two plugins that declare one name do not start", async () => {
  const twin = definePlugin({ name: "twin", accountSettings, setup: () => ({}) });
  const fault = await startTestApp({ plugins: [...builtIn, lists, twin] }).catch((error: unknown) => error);
  expect(fault).toMatchObject({
    cause: { message: 'plugins "lists" and "twin" both declare the account setting "lists_max_items"' },
  });
});

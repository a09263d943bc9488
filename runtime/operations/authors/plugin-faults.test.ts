/** What is wrong with a plugin is one clear line that names it. */
import { describe, expect, test } from "bun:test";
import { definePlugin, route, setting } from "platform";
import { plugins as builtIn } from "../../../plugins/index.ts";
import { startTestApp } from "../../../tests/harness.ts";
import { checkSettingNames } from "../../settings/config.ts";
import type { Plugin } from "../../plugin/plugin.ts";
import { platformMismatch } from "../../plugin/facts.ts";
import { ok } from "../../http/answers/reply.ts";
import { ConfigError } from "../../settings/settings.ts";

const page = (path: string) =>
  route("GET", path, { summary: "x", access: { open: "a test" }, responses: {} }, () => ok(1));

async function startFault(plugin: Plugin): Promise<string> {
  const started = await startTestApp({ plugins: [...builtIn, plugin] }).catch((error: unknown) => error);
  if (!(started instanceof Error)) throw new Error("it started");
  return started.cause instanceof Error ? `${started.message}: ${started.cause.message}` : started.message;
}

describe("a plugin is named where", () => {
  const wrongSetup = () => {
    throw new Error("no such file");
  };
  const cases: [what: string, plugin: Plugin, said: RegExp][] = [
    [
      "its setup throws",
      definePlugin({ name: "mine", setup: wrongSetup }),
      /^plugin "mine" cannot be set up: no such file$/,
    ],
    [
      "it answers what another one answers",
      definePlugin({ name: "mine", setup: () => ({ routes: [page("/core/prompts")] }) }),
      /^plugin "mine" answers GET \/core\/prompts, which is a route of "prompts"$/,
    ],
    [
      "it has a route twice",
      definePlugin({ name: "mine", setup: () => ({ routes: [page("/mine/:a"), page("/mine/:b")] }) }),
      /^plugin "mine" has two routes for GET \/mine\/:b$/,
    ],
    [
      "its route needs a privilege that nobody declares",
      definePlugin({
        name: "mine",
        privileges: [{ name: "suppliers", doc: "x", roles: ["manager"] }],
        setup: () => ({
          routes: [
            route("GET", "/mine", { summary: "x", access: { privilege: "supliers" }, responses: {} }, () => ok(1)),
          ],
        }),
      }),
      /^plugin "mine": GET \/mine needs the privilege "supliers", which no plugin declares: did you mean "suppliers"\?$/,
    ],
    [
      "its schedule is none",
      definePlugin({
        name: "mine",
        setup: () => ({ schedules: [{ id: "mine.x", cron: "61 * * * *", run: async () => {} }] }),
      }),
      /^plugin "mine" has a schedule that cannot be kept, "mine\.x": /,
    ],
    [
      "its schedule's time zone is none",
      definePlugin({
        name: "mine",
        setup: () => ({ schedules: [{ id: "mine.x", cron: "0 3 * * *", timezone: "Mars/Base", run: async () => {} }] }),
      }),
      /^plugin "mine" has a schedule that cannot be kept, "mine\.x": .*Mars\/Base/,
    ],
  ];
  test.each(cases)("%s", async (_what, plugin, said) => {
    expect(await startFault(plugin)).toMatch(said);
  });
});

describe("a setting", () => {
  const named = (name: string, env: string) => ({ name, config: { x: setting.text(env, "", "x") } });
  const clash = (...plugins: ReturnType<typeof named>[]) => {
    try {
      checkSettingNames([{ name: "accounts", config: { x: setting.text("CORE_LOCALE", "", "x") } }], plugins);
      return [];
    } catch (error) {
      if (error instanceof ConfigError) return error.mistakes;
      throw error;
    }
  };
  test.each([
    [
      "of the runtime",
      [named("mine", "PORT")],
      ['PORT of plugin "mine" is a setting of Corestead already: give yours another name'],
    ],
    [
      "of a built-in plugin",
      [named("mine", "CORE_LOCALE")],
      ['CORE_LOCALE of plugin "mine" is a setting of "accounts" already: give yours another name'],
    ],
    [
      "of another plugin",
      [named("a", "X"), named("b", "X")],
      ['X of plugin "b" is a setting of "a" already: give yours another name'],
    ],
    ["of nobody else", [named("a", "A_X"), named("b", "B_X")], []],
  ])("that has the name of one %s", (_whose, plugins, said) => {
    expect(clash(...plugins)).toEqual(said);
  });
});

test.each([
  [undefined, "1.4.2", true],
  ["^1", "1.4.2", true],
  ["^1.4", "1.4.2", true],
  ["~1.4.2", "1.4.9", true],
  ["1.4.2", "1.4.2", true],
  ["^1.5", "1.4.2", false],
  ["^2", "1.4.2", false],
  ["~1.3", "1.4.2", false],
  ["latest", "1.4.2", false],
  ["", "1.4.2", false],
])("platform %p on version %p fits: %p", (range, version, fits) => {
  const mismatch = platformMismatch(range, version);
  expect(mismatch === undefined).toBe(fits);
  if (mismatch !== undefined) expect(mismatch).toContain(`${range}`);
});

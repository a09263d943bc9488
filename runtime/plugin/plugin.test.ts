import { describe, expect, test } from "bun:test";
import { definePlugin, on, onEvent, type BaseContext } from "./plugin.ts";
import { event, job, service } from "../base/references.ts";
import * as setting from "../settings/settings.ts";

const clock = service<{ now(): number }>("clock");
const rung = event<{ at: number }>("bell.rung");
const ring = job<{ times: number }>("bell.ring");

describe("types of references", () => {
  test("a wrong payload or an undeclared need does not compile", () => {
    definePlugin({
      name: "bell",
      needs: { clock },
      config: { volume: setting.integer("CORE_BELL_VOLUME", 3, "Volume", { min: 0, max: 10 }) },
      setup: (ctx) => {
        const now: number = ctx.services.clock.now();
        const volume: number = ctx.config.volume;
        // @ts-expect-error a need that was not declared
        const undeclared: unknown = ctx.services.mail;
        // @ts-expect-error a setting that was not declared
        const unset: unknown = ctx.config.pitch;
        const wrong = () => [
          // @ts-expect-error a payload of another type
          ctx.emit(rung, { at: "now" }),
          // @ts-expect-error a payload without its field
          ctx.enqueue(ring, {}),
          // @ts-expect-error a job is no event
          ctx.emit(ring, { times: 1 }),
        ];
        return { handlers: [], stop: () => void [now, volume, undeclared, unset, wrong] };
      },
    });
    on(ring, async ({ times }) => void times.toFixed());
    // @ts-expect-error a handler of another payload
    on(ring, async ({ at }) => void at);
    onEvent(rung, "bell.log", async ({ at }) => void at.toFixed(), { when: ({ at }) => at > 0 });
    expect(ring.id).toBe("bell.ring");
  });

  test("a service of another type is refused", () => {
    definePlugin({
      name: "clock",
      provides: clock,
      // @ts-expect-error now() must give a number
      setup: () => ({ service: { now: () => "noon" } }),
    });
    expect(clock.id).toBe("clock");
  });
});

describe("services of `later`", () => {
  const bell = service<{ ring(): number }>("bell");
  const base = { log: { with: () => undefined } } as object as BaseContext;
  const started = (call: "in setup" | "when it runs", serviceOf: () => unknown) => {
    const plugin = definePlugin({
      name: "clock",
      later: { bell },
      provides: clock,
      setup: ({ later }) => {
        const first = call === "in setup" ? later.bell.ring() : 0;
        return { service: { now: () => first + later.bell.ring() } };
      },
    });
    expect(plugin.needs).toEqual({});
    return plugin.start(base, {}, serviceOf);
  };

  test("are there once their plugin is set up, which may be after this one", async () => {
    let ready: unknown;
    const { service: found } = await started("when it runs", () => ready);
    const { now } = found as { now(): number };
    expect(now).toThrow('plugin "clock" calls "bell", which is not set up');
    ready = { ring: () => 7 };
    expect(now()).toBe(7);
  });

  test("are not there in setup", async () => {
    const error = await started("in setup", () => undefined).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ cause: { message: 'plugin "clock" calls "bell", which is not set up' } });
  });
});

describe("a plugin", () => {
  test("is facts as plain data before anything starts", () => {
    const plugin = definePlugin({ name: "bell", needs: { clock }, setup: () => ({}) });
    expect(plugin).toMatchObject({ name: "bell", needs: { clock: { id: "clock" } }, migrations: [], privileges: [] });
  });

  const start = async (started: object) => {
    const plugin = definePlugin({ name: "mine", setup: () => started });
    // Nothing is asked of the context before its setup has returned.
    const base = { log: { with: () => undefined } } as object as BaseContext;
    return plugin.start(base, {}, () => undefined);
  };
  test.each([
    [{ handlers: 5 }, 'plugin "mine": its setup returns "handlers", which must be a list'],
    [{ routes: [7] }, 'plugin "mine": its setup returns "routes", which must be a list'],
    [{ schedules: {} }, 'plugin "mine": its setup returns "schedules", which must be a list'],
    [{ begin: "now" }, 'plugin "mine": its setup returns "begin", which must be a function'],
    [{ handler: [] }, 'plugin "mine": its setup returns the unknown "handler": did you mean "handlers"?'],
    [[], 'plugin "mine": its setup returns no object'],
  ])("is refused at start where its setup returns %j", async (started, said) => {
    expect(await start(started).catch(String)).toBe(`Error: ${said}`);
  });
  test.each([
    [{ privilege: [] }, 'plugin "mine" has the unknown "privilege": did you mean "privileges"?'],
    [{ migrations: "001" }, 'plugin "mine" has "migrations", which must be a list'],
    [{ prompts: [] }, 'plugin "mine" has "prompts", which must be a map'],
  ])("is refused with the facts %j", (facts, said) => {
    expect(() => definePlugin({ name: "mine", ...facts, setup: () => ({}) } as never)).toThrow(said);
  });

  test("is refused with a name that could not be a folder", () => {
    expect(() => definePlugin({ name: "My Plugin", setup: () => ({}) })).toThrow("lower-case");
  });

  test("gets its own settings, and a wrong one stops the start by name", async () => {
    const config = { volume: setting.integer("CORE_BELL_VOLUME", 3, "Volume", { min: 0, max: 10 }) };
    const seen: number[] = [];
    const plugin = definePlugin({ name: "bell", config, setup: (ctx) => (seen.push(ctx.config.volume), {}) });
    const log = { with: () => log };
    // The plugin uses nothing else of it here.
    const base = { log } as unknown as BaseContext;
    await plugin.start(base, { CORE_BELL_VOLUME: "7" }, () => undefined);
    expect(seen).toEqual([7]);
    expect(plugin.start(base, { CORE_BELL_VOLUME: "11" }, () => undefined)).rejects.toThrow("CORE_BELL_VOLUME must be");
  });
});

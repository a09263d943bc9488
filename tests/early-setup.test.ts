/** While the embedded database still starts, the plugins are set up: they must not ask it before `prepare`. */
import { expect, test } from "bun:test";
import type { Plugin } from "../runtime/plugin/plugin.ts";
import { plugins } from "../plugins/index.ts";
import { describe as describePlugins } from "../runtime/operations/start/boot.ts";
import { readConfig } from "../runtime/settings/config.ts";
import { createLog } from "../runtime/system/log.ts";

const asked: string[] = [];

function watched(plugin: Plugin): Plugin {
  return {
    ...plugin,
    start: (base, env, serviceOf) => {
      const sql = new Proxy(base.sql, {
        apply(of, self, [strings, ...values]) {
          // A part of a statement is made in the same way; only who waits for it asks.
          const fragment = Reflect.apply(of, self, [strings, ...values]);
          return new Proxy(fragment, {
            get(made, name) {
              if (name === "then") asked.push(`${plugin.name}: ${String(strings)}`);
              return Reflect.get(made, name);
            },
          });
        },
      });
      const ask = async () => {
        asked.push(`${plugin.name}: a read or a transaction`);
        throw new Error("the database still starts");
      };
      return plugin.start({ ...base, sql, read: ask, transaction: ask }, env, serviceOf);
    },
  };
}

test("no plugin of ours asks the database while it is set up", async () => {
  const described = await describePlugins({
    config: readConfig({}),
    env: {},
    plugins: plugins.map(watched),
    log: createLog("warn"),
  });
  expect(Object.keys(described.paths).length).toBeGreaterThan(100);
  expect(asked).toEqual([]);
});

/** A machine too busy for what runs in guarded processes: no fault of a source or a picture, so try again later. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { plugins as builtIn } from "../plugins/index.ts";
import { png } from "./fixtures/media-files.ts";
import type { Plugin } from "../runtime/plugin/plugin.ts";
import { startTestApp, type TestApp } from "./harness.ts";

/** Its guarded processes never start in time. */
function starved(plugin: Plugin): Plugin {
  return {
    ...plugin,
    start: (base, env, serviceOf) =>
      plugin.start(
        { ...base, child: (name, options) => base.child(name, { ...options, startLimitMs: 1 }) },
        env,
        serviceOf,
      ),
  };
}

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ plugins: builtIn.map(starved) });
});
afterAll(() => app.stop());

test("an app is not saved: 503, and its source is not blamed", async () => {
  const source = { name: "Starved", app_engine: "react", source_code: "export default () => <p>1</p>" };
  const answer = await app.post("/core/apps.json", { app: source });
  expect([answer.status, answer.headers.get("retry-after"), answer.json]).toEqual([
    503,
    "1",
    { error: "the server is too busy to compile the app, try again" },
  ]);
  expect(await app.sql`select 1 from apps`).toHaveLength(0);
});

test("a picture is not made smaller: 503, and the picture is not blamed", async () => {
  const form = new FormData();
  form.append("file", new Blob([png(400, 300)]), "starved.png");
  const { id } = (await app.post("/core/media.json", undefined, { raw: form })).json;
  const answer = await app.get(`/media/${id}/w/320.webp`);
  expect([answer.status, answer.headers.get("retry-after"), answer.json]).toEqual([
    503,
    "1",
    { error: "the server is too busy to make the picture, try again" },
  ]);
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../tests/harness.ts";
import { plugins } from "../index.ts";
import apps from "./plugin.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...new Set([...plugins, apps])] });
});
afterAll(() => app.stop());

test("smoke", async () => {
  const made = await app.post("/core/apps.json", { app: { name: "Hello", source_code: "<p>hi</p>", app_engine: "html" } });
  console.log(made.status, made.text);
  const s = await app.post("/core/apps.json", { app: { name: "Hello", source_code: "<script>let n = $state(0)</script><p class='p-4'>{n}</p>", css_engine: "tailwind" } });
  console.log(s.status, s.text);
  const page = await app.get("/a/hello");
  console.log(page.status, page.headers, page.text.slice(0, 1500));
  const bad = await app.post("/core/apps.json", { app: { name: "Hello", source_code: "<script>let n = (</script>" } });
  console.log(bad.status, bad.text);
});

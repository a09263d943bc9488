/** The executable: built once, then run in empty folders without node_modules. architecture 7. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, chownSync, existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { demoApps, fakeWeather } from "./browser/demo-apps.ts";
import { atStudio } from "./browser/studio-fixture.ts";
import { faultsOf, launchChromium } from "./chromium.ts";
import { eventually } from "./harness.ts";
import { openPool } from "../runtime/db/db.ts";
import { runningPostgres } from "../runtime/operations/postgres/running-postgres.ts";
import { cleanUp, folderWith, run, startServer, type ServerProcess } from "./server-process.ts";

const token = "the-administrator's-token-of-binary.test.ts";
const env = { CORE_ADMIN_PASSWORD: "correct horse battery staple", CORE_ADMIN_TOKEN: token, PLUGINS_DIR: "plugins" };
// A machine that runs other tests at the same time may be slow.
setDefaultTimeout(600_000);
const built = folderWith();
const corestead = [join(built, "corestead")];

beforeAll(async () => {
  chmodSync(built, 0o755);
  const [outfile = ""] = corestead;
  // Compressed less than the one that is shipped, which takes half a minute.
  const words = ["scripts/build.ts", "--outfile", outfile, "--level", "3"];
  const made = await run([process.execPath, ...words], { cwd: join(import.meta.dir, "..") });
  if (made.code !== 0) throw new Error(made.stderr);
}, 600_000);
afterAll(cleanUp);

/** An external plugin: "platform", its own second file, SQL beside it, and a page of two files and a package. */
const visits = {
  "plugins/visits/plugin.ts": `
    import { definePlugin } from "platform";
    import migration from "./migrations/001_visits.sql" with { type: "text" };
    import { visitRoutes } from "./routes.ts";
    export default definePlugin({
      name: "visits",
      migrations: [{ name: "001_visits", sql: migration }],
      studio: [{ path: "visits/counter", title: { en: "Visits" }, module: new URL("./studio/counter.page.ts", import.meta.url) }],
      setup: (ctx) => ({ routes: visitRoutes(ctx) }),
    });`,
  "plugins/visits/routes.ts": `
    import { created, notFound, route, Type, type BaseContext, type Route } from "platform";
    export function visitRoutes({ sql }: BaseContext): Route[] {
      const body = { key: "visit", schema: Type.Object({ page: Type.String({ minLength: 1 }) }) };
      return [
        route("POST", "/visits", { summary: "Count", access: { open: "a test" }, body, responses: {} }, async ({ body: { page } }) => {
          if (page === "gone") throw notFound();
          const [row] = await sql\`
            insert into visits (page, seen) values (\${page}, 1)
            on conflict (page) do update set seen = visits.seen + 1 returning page, seen\`;
          return created(row);
        }),
      ];
    }`,
  "plugins/visits/studio/counter.page.ts": `
    import type { Mount } from "platform/studio";
    import { times } from "times-in-words";
    import { page } from "./names.ts";
    export const mount: Mount = async (element, { api }) => {
      const { json } = await api("POST", "/visits", { body: { visit: { page } } });
      const grid = document.createElement("studio-grid");
      grid.label = "Visits";
      grid.columns = ["page", "seen"];
      grid.rows = [{ id: 1, page, seen: "Seen " + times((json as { seen: number }).seen) }];
      element.append(grid);
    };`,
  "plugins/visits/studio/names.ts": `export const page: string = "studio";`,
  "plugins/visits/node_modules/times-in-words/package.json": `{ "name": "times-in-words", "main": "index.cjs" }`,
  "plugins/visits/node_modules/times-in-words/index.cjs": `exports.times = (n) => n === 1 ? "once" : n + " times";`,
  "plugins/visits/migrations/001_visits.sql": "create table visits (page text primary key, seen integer not null);",
};

describe("in a folder with nothing but a plugin", () => {
  const cwd = folderWith(visits);
  const start = () => startServer(corestead, { cwd, env });
  let server: ServerProcess;
  let dbId: string;

  test("it starts, with PostgreSQL inside", async () => {
    server = await start();
    expect((await server.request("GET", "/health", undefined, { token: null })).status).toBe(200);
    expect((await server.request("GET", "/ready", undefined, { token: null })).status).toBe(200);
    expect(server.stderr()).toBe("");
  });

  test("one signs in, keeps a prompt and stores a record", async () => {
    const session = { login: "admin", password: env.CORE_ADMIN_PASSWORD };
    expect((await server.request("POST", "/account/session.json", session, { token: null })).status).toBe(201);

    const prompt = { name: "Greeting", code: "greeting", content: "Hello, {{ user.name }}!" };
    expect((await server.request("POST", "/core/prompts.json", { prompt }, { token })).status).toBe(201);
    expect((await server.request("GET", "/core/prompt/greeting.md", undefined, { token })).text).toStartWith("Hello,");

    const db = await server.request("POST", "/core/dbs.json", { db: { name: "People" } }, { token });
    expect(db.status).toBe(201);
    dbId = db.json.id;
    const record = { data: { name: "Ada" } };
    expect((await server.request("POST", `/core/dbs/${dbId}/records.json`, { record }, { token })).status).toBe(201);
  });

  test("PostgreSQL knows the rules of languages, though most of ICU's data is left out", async () => {
    const target = await runningPostgres(join(cwd, "data"));
    if (!target) throw new Error("no PostgreSQL runs in the data folder");
    const sql = openPool(target, { max: 1 });
    const [row] = await sql`
      select array(select w from unnest('{z,ö,o}'::text[]) w order by w collate "sv-x-icu") as swedish,
             array(select w from unnest('{z,ö,o}'::text[]) w order by w collate "de-x-icu") as german,
             initcap('öl ไทย istanbul' collate "tr-x-icu") as turkish`;
    await sql.end();
    expect(row).toEqual({ swedish: ["o", "z", "ö"], german: ["o", "ö", "z"], turkish: "Öl ไทย İstanbul" });
  });

  test("it writes a plugin, runs its tests and packs it", async () => {
    const mine = folderWith();
    const inMine = (...words: string[]) => run([...corestead, ...words], { cwd: mine });
    expect(await inMine("plugin", "new", "shopping-list")).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(join(mine, "plugins")).toSorted()).toEqual(["platform.d.ts", "shopping-list", "tsconfig.json"]);
    const tested = await inMine("test", "plugins/shopping-list");
    expect(tested.stderr).toMatch(/ [1-9]\d* pass\n 0 fail\n/);
    expect(tested.code).toBe(0);
    expect(await inMine("plugin", "pack", "plugins/shopping-list", "one.js")).toMatchObject({ code: 0, stderr: "" });
    // Its page in the Studio is inside.
    expect(readFileSync(join(mine, "one.js"), "utf8")).toContain("Nie ma jeszcze niczego.");
  });

  test("the prompts of the plugins are inside", async () => {
    const instructions = await server.request("GET", "/core/prompt/api_tokens_api.md", undefined, { token });
    expect(instructions.status).toBe(200);
    expect(instructions.text).toContain("/account/api_tokens");
  });

  test("the external plugin has its table, checks what it gets and answers in the runtime's form", async () => {
    const post = (page: unknown) => server.request("POST", "/visits.json", { visit: { page } }, { token: null });
    expect((await post("home")).json).toEqual({ page: "home", seen: 1 });
    expect((await post("home")).json).toEqual({ page: "home", seen: 2 });
    expect((await post(7)).status).toBe(422);
    expect((await post("gone")).json).toEqual({ error: "not found" });
  });

  test("the Studio is inside, with a page of the external plugin", async () => {
    const browser = await launchChromium();
    try {
      await using opened = await atStudio(browser, server.origin, { password: env.CORE_ADMIN_PASSWORD });
      const { page, faults } = opened;
      await page.getByRole("link", { name: "Visits" }).first().click();
      await page.getByRole("grid", { name: "Visits" }).getByRole("gridcell", { name: "Seen once" }).waitFor();
      expect(faults).toEqual([]);
    } finally {
      await browser.close();
    }
  });

  test("an app of every engine compiles, and its page and what it imports are served", async () => {
    const sources = {
      svelte: `<script lang="ts">let n: number = $state(0);</script><p class="p-4" onclick={() => n++}>{n}</p>`,
      vue: `<script setup lang="ts">const n: number = 1;</script><template><p class="p-4">{{ n }}</p></template>`,
      react: `export default function App(): unknown { return <p className="p-4">1</p>; }`,
      js: `import { createApp } from "vue"; createApp({}).mount("#core-app");`,
      html: "<p>1</p>",
      kaboom: "kaboom(); const speed: number = 1;",
      phaser: "new Phaser.Game({});",
    };
    for (const [engine, source_code] of Object.entries(sources)) {
      const app = { name: engine, app_engine: engine, css_engine: "tailwind", source_code, public: true };
      const made = await server.request("POST", "/core/apps.json", { app }, { token });
      expect({ engine, status: made.status }).toEqual({ engine, status: 201 });
      const page = await server.request("GET", `/a/${made.json.url_code}`, undefined, { token: null });
      expect(page.status).toBe(200);
      for (const [, address = ""] of page.text.matchAll(/(?:src|href)="(\/[^"]+)"/g)) {
        const { status } = await server.request("GET", address, undefined, { token: null });
        expect({ address, status }).toEqual({ address, status: 200 });
      }
    }
    const app = { name: "wrong", app_engine: "svelte", source_code: `<script>import "fs"</script>` };
    const refused = await server.request("POST", "/core/apps.json", { app }, { token });
    expect(refused.json).toEqual({ source_code: [expect.stringMatching(/^1:16 "fs" cannot be imported/)] });
  });

  test("commands work beside the server", async () => {
    const made = await run([...corestead, "token", "create", "--user", "admin", "--name", "cli"], { cwd, env });
    expect(made.stderr).toBe("");
    const me = await server.request("GET", "/account/me.json", undefined, { token: made.stdout.trim() });
    expect(me.json).toMatchObject({ login: "admin" });
  });

  test("a second start is told who holds the folder", async () => {
    const second = await run(corestead, { cwd, env });
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(`(pid ${server.pid})`);
  });

  test("after SIGTERM and after kill -9 the next start has everything", async () => {
    expect(await server.stop()).toBe(0);
    server = await start();
    server.kill("SIGKILL");
    await server.exited;
    server = await start();
    const found = await server.request("GET", `/core/dbs/${dbId}/records.json`, undefined, { token });
    expect(found.json).toMatchObject([{ data: { name: "Ada" } }]);
  });

  test("a backup, taken while it serves, is restored into another folder", async () => {
    expect((await run([...corestead, "backup", "core.backup"], { cwd, env })).code).toBe(0);
    expect(await server.stop()).toBe(0);
    const other = folderWith(visits);
    const restored = await run([...corestead, "restore", join(cwd, "core.backup")], { cwd: other, env });
    expect(restored.stderr).toBe("");
    server = await startServer(corestead, { cwd: other, env });
    const again = await server.request("POST", "/visits.json", { visit: { page: "home" } }, { token: null });
    expect(again.json).toEqual({ page: "home", seen: 3 });
    expect((await server.request("GET", "/core/prompt/greeting.md", undefined, { token })).status).toBe(200);
    expect(await server.stop()).toBe(0);
  });

  test("WORKERS=2 runs the executable itself as its workers", async () => {
    server = await startServer(corestead, { cwd, env: { ...env, WORKERS: "2" } });
    expect(server.stdout()).toContain("with 2 processes");
    expect((await server.request("GET", `/core/dbs/${dbId}.json`, undefined, { token })).status).toBe(200);
    expect(await server.stop()).toBe(0);
  });
});

test("`demo` fills an empty folder, and every example app of it works in a browser", async () => {
  const cwd = folderWith();
  const own = { ...env, PLUGINS_DIR: "", OUTBOUND_ALLOW: "127.0.0.1" };
  const demo = await run([...corestead, "demo"], { cwd, env: own });
  expect([demo.code, demo.stderr]).toEqual([0, ""]);
  expect(demo.stdout).toContain("the apps: 6 made");
  const server = await startServer(corestead, { cwd, env: own });
  // The codecs are inside, and so is what few browsers ask for: a file that is not compressed.
  const { json: pictures } = await server.request("GET", "/core/media.json?limit=1", undefined, { token });
  for (const format of ["webp", "avif", "jpeg"]) {
    const { status, headers } = await fetch(`${server.origin}/media/${pictures[0].id}/w/320.${format}`);
    expect([status, headers.get("content-type")]).toEqual([200, `image/${format}`]);
  }
  const { text } = await server.request("GET", "/a/demo-stardust", undefined, { token });
  const [kaplay = ""] = /\/_rt\/\w+\/kaplay\.js/.exec(text) ?? [];
  const plain = { headers: { "accept-encoding": "identity" } };
  expect((await server.request("GET", kaplay, undefined, plain)).text).toHaveLength(
    await Bun.file("dist/runtimes/kaplay.js")
      .text()
      .then((source) => source.length),
  );
  const weather = fakeWeather();
  const connector = { url: weather.url };
  const changed = await server.request("PATCH", "/connect/connectors/demo_weather", { connector }, { token });
  expect(changed.status).toBe(200);

  const browser = await launchChromium();
  const context = await browser.newContext();
  const session = { data: { login: "admin", password: env.CORE_ADMIN_PASSWORD }, headers: { origin: server.origin } };
  expect((await context.request.post(`${server.origin}/account/session.json`, session)).status()).toBe(201);
  for (const [code, shown] of Object.entries(demoApps)) {
    const page = await context.newPage();
    const faults = faultsOf(page);
    await page.goto(`${server.origin}/a/${code}`);
    // A private app is in a frame.
    await (page.frames()[1] ?? page).locator(shown).first().waitFor();
    expect({ code, faults }).toEqual({ code, faults: [] });
    await page.close();
  }
  await browser.close();
  await weather.stop();
  expect(await server.stop()).toBe(0);
});

const linux = process.platform === "linux";

// What is unpacked takes 300 MB: issue 2 allows a server 250 under load.
test.if(linux)("the server unpacks nothing in its own memory", async () => {
  const server = await startServer(corestead, { cwd: folderWith(), env: { ...env, PLUGINS_DIR: "" } });
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  expect(Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1])).toBeLessThan(200_000);
  expect(await server.stop()).toBe(0);
});

test.if(linux)("a first start that is killed while it unpacks leaves nobody behind and spoils nothing", async () => {
  const cwd = folderWith();
  const data = join(cwd, "data");
  for (const seen of ["pg-", "postgres.tmp-"]) {
    const own = { ...env, PATH: process.env["PATH"], PORT: "0", PLUGINS_DIR: "" };
    const first = Bun.spawn(corestead, { cwd, env: own, stdout: "ignore" });
    const unpacks = () => readdirSync(data).some((name) => name.startsWith(seen) && workersIn(join(data, name)) > 0);
    while (!existsSync(data) || !unpacks()) await Bun.sleep(1);
    first.kill("SIGKILL");
    await first.exited;
    while (readdirSync(data).some((name) => workersIn(join(data, name)) > 0)) await Bun.sleep(1);
  }
  const server = await startServer(corestead, { cwd, env: { ...env, PLUGINS_DIR: "" } });
  expect(readdirSync(data).filter((name) => name.includes(".tmp-"))).toEqual([]);
  expect((await server.request("GET", "/ready", undefined, { token: null })).status).toBe(200);
  expect(await server.stop()).toBe(0);
});

/** How many processes work in this folder. */
function workersIn(folder: string): number {
  const worksThere = (pid: string) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      return false; // it has ended
    }
  };
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && worksThere(name)).length;
}

test("settings may stand in an .env of the folder, and nothing else there changes what it does", async () => {
  const cwd = folderWith({
    ".env": "PLUGINS_DIR=mine\n",
    "mine/notes.ts": `
      import { definePlugin } from "platform";
      export default definePlugin({ name: "notes-of-env", setup: () => ({}) });`,
    "bunfig.toml": `preload = ["./preload.ts"]`,
    "preload.ts": `process.exit(99);`,
    "tsconfig.json": `{ "compilerOptions": { "paths": { "platform": ["./preload.ts"] } } }`,
  });
  const { code, stdout } = await run([...corestead, "plugins"], { cwd });
  expect(code).toBe(0);
  expect(stdout.split("\n")).toContain("notes-of-env");
  expect(stdout.split("\n")).toContain("accounts");
});

test("`help` and `types` need no database", async () => {
  const cwd = folderWith();
  expect((await run([...corestead, "help"], { cwd })).stdout).toContain("corestead [command]");
  // Whoever reads along may leave.
  const read = await run(["sh", "-c", '"$0" "$@" | head -n 1', ...corestead, "client"], { cwd });
  expect([read.stdout.split("\n").length, read.stderr]).toEqual([2, ""]);
  expect((await run([...corestead, "types"], { cwd })).code).toBe(0);
  const types = join(import.meta.dir, "../runtime/platform-types.txt");
  expect(readFileSync(join(cwd, "platform.d.ts"), "utf8")).toBe(readFileSync(types, "utf8"));
  expect(existsSync(join(cwd, "data"))).toBe(false);
});

// If this runs as root, so does every other test here; but files that root unpacks must be usable by others too.
test.if(process.getuid?.() === 0)("another user than root runs it in a folder of their own", async () => {
  const cwd = folderWith();
  const nobody = 65_534;
  chownSync(cwd, nobody, nobody);
  const asNobody = ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups", ...corestead];
  const server = await startServer(asNobody, { cwd, env: { ...env, PLUGINS_DIR: "" } });
  await eventually(async () => (await server.request("GET", "/ready", undefined, { token: null })).status === 200);
  expect(await server.stop()).toBe(0);
});

/** The examples of `/docs` are true: a shell runs each curl command as it stands there, and TypeScript compiles each call. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePlugin, setting } from "../runtime/sdk.ts";
import { tokens } from "../plugins/tokens/api.ts";
import { capture } from "./distribution/captured.ts";
import { layoutOf } from "./distribution/classes.ts";
import { unexpected } from "./distribution/crossings.ts";
import { adminToken, createDatabase, startTestApp, type TestApp } from "./harness.ts";
import { startReceiver, type Receiver } from "./receiver.ts";
import { examplePassword, isAsExpected, operationsOf, runExamples, type Operation } from "./route-examples.ts";

let app: TestApp;
let receiver: Receiver;
let folder: string;
let operations: Operation[];
let statements: () => Set<string>;

/** The setting of the example is a plugin's. */
const shopping = definePlugin({
  name: "shopping",
  accountSettings: {
    maxItems: setting.integer("shopping_list_max_items", 100, "items of a list", { min: 1, max: 1000 }),
  },
  setup: () => ({}),
});

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "corestead-docs-"));
  receiver = startReceiver();
  const env = { CORE_ADMIN_PASSWORD: examplePassword, SECURITY_CONTACT: "mailto:security@example.com" };
  const target = await createDatabase();
  statements = await capture(target);
  app = await startTestApp({ target, plugin: shopping, env });
  statements();
  operations = operationsOf((await app.get("/docs", { token: null })).text);
});
afterAll(async () => {
  await app.stop();
  await receiver.stop();
  rmSync(folder, { recursive: true });
});

test("each curl command does what it says", async () => {
  const webToken = (await app.service(tokens).issue({ accountId: 1, userId: 1, kind: "web_token" }))?.token;
  const ran = await runExamples(operations, { client: app, receiver, folder, webToken });
  expect(ran).toHaveLength(operations.length);
  const failed = ran.filter((one) => !isAsExpected(one));
  expect(failed.map(({ method, path, status, body }) => `${status} ${method} ${path} ${body}`)).toEqual([]);
});

const strict = {
  target: "esnext",
  module: "preserve",
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  allowImportingTsExtensions: true,
  noEmit: true,
  lib: ["esnext", "dom"],
  types: [],
};

test("each TypeScript call compiles, and those that read do so", async () => {
  const calls = operations.map(({ path, typescript }, at) => {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `${name}: string`);
    return `export async function call${at}(${names.join(", ")}) {\n${typescript}\nreturn data;\n}`;
  });
  const options = JSON.stringify({ baseUrl: app.origin, token: adminToken });
  const begin = `import { createClient } from "./client.ts";\nconst client = createClient(${options});`;
  await Bun.write(join(folder, "calls.ts"), [begin, ...calls].join("\n"));
  await Bun.write(join(folder, "client.ts"), (await app.get("/client.ts", { token: null })).text);
  await Bun.write(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: strict, files: ["calls.ts"] }));
  const tsc = join(import.meta.dir, "../node_modules/.bin/tsc");
  const child = Bun.spawn([tsc, "-p", folder], { stdout: "pipe" });
  expect(await new Response(child.stdout).text()).toBe("");
  expect(await child.exited).toBe(0);
  const made: Readonly<Record<string, (...parts: string[]) => Promise<unknown>>> = await import(
    join(folder, "calls.ts")
  );
  // The token of the automatic sign-in is for a single one; the pages of links that come by mail are not there without
  // them, and the probe is for the doctor alone.
  const reads = ({ method, path }: Operation) =>
    method === "GET" && !/\{|auto_login|(forgot|set)_password|confirm_email|probe|oauth.authorize/.test(path);
  const read = await Promise.all(
    operations.map(async (one, at) => (reads(one) ? [one.path, typeof (await made[`call${at}`]?.())] : [])),
  );
  expect(Object.fromEntries(read.filter(([path]) => path))).toMatchObject({
    "/core/prompts.json": "object",
    "/core/search.json": "object",
    "/docs": "string",
  });
  const db = (await app.post("/core/dbs.json", { db: { name: "Imported" } })).json.id;
  const at = operations.findIndex(({ path }) => path === "/core/dbs/{db_id}/import");
  expect(await made[`call${at}`]?.(db)).toMatchObject({ imported: 2 });
});

test("what each route asks of PostgreSQL, it asks of one server of several", async () => {
  expect(await unexpected(statements(), await layoutOf(app.sql))).toEqual([]);
});

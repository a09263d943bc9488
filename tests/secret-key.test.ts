/** The key that seals secrets: two hosts with different keys, a lost key, and the key that a backup needs. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { plugins } from "../plugins/index.ts";
import { definePlugin } from "../runtime/plugin/plugin.ts";
import { ok } from "../runtime/http/answers/reply.ts";
import { route } from "../runtime/http/route.ts";
import { createDatabase, eventually, startTestApp, type TestApp } from "./harness.ts";
import { cleanUp, folderWith, fromSource, run, startServer, type ServerProcess } from "./server-process.ts";

afterAll(cleanUp);

const adminToken = "the-administrators-token-of-secret-key.test.ts";

describe("processes on one database", () => {
  let first: TestApp;
  beforeAll(async () => {
    first = await startTestApp();
  });
  afterAll(() => first.stop());

  const second = (env: Record<string, string>) =>
    startTestApp({ target: first.target, env }).then(
      (app) => app.stop().then(() => "started"),
      (error: Error) => error.message,
    );
  const fingerprint = async () => {
    const [row] = await first.sql`select value from runtime_state where key = 'secret_key'`;
    return String(row?.["value"]);
  };

  test("share one key: another is refused by fingerprint, with what to do", async () => {
    expect(await fingerprint()).toMatch(/^[0-9a-f]{16}$/);
    const refusal = await second({ SECRET_KEY: "another secret key, of thirty-two characters" });
    expect(refusal).toContain(`sealed with the key of fingerprint ${await fingerprint()}, and SECRET_KEY is `);
    expect(refusal).toContain("every server of one database needs the same");
  });

  test("a host without a key makes none of its own", async () => {
    const dataDir = folderWith();
    const refusal = await second({ SECRET_KEY: "", DATA_DIR: dataDir });
    expect(refusal).toContain(`${join(dataDir, "secret.key")} is missing`);
    expect(refusal).toContain(await fingerprint());
    expect(existsSync(join(dataDir, "secret.key"))).toBe(false);
  });

  test("the same key starts", async () => {
    expect(await second({})).toBe("started");
  });

  test("a database that was used before fingerprints were kept takes the key that is there, and no new one", async () => {
    await first.sql`delete from runtime_state where key = 'secret_key'`;
    expect(await second({ SECRET_KEY: "", DATA_DIR: folderWith() })).toContain("secret.key is missing");
    expect(await second({})).toBe("started");
    expect(await fingerprint()).toMatch(/^[0-9a-f]{16}$/);
  });
});

test("a value that does not open is 409, whichever plugin sealed it", async () => {
  const probe = definePlugin({
    name: "probe",
    setup: (ctx) => ({
      routes: [
        route("GET", "/probe/secret", { access: { open: "a test asks" }, summary: "", responses: { 200: {} } }, () =>
          ok(ctx.secrets.open("v1.of-another-key", "probe")),
        ),
      ],
    }),
  });
  const app = await startTestApp({ target: await createDatabase(), plugins: [...plugins, probe] });
  const answer = await app.get("/probe/secret");
  expect([answer.status, answer.json.error]).toEqual([409, expect.stringContaining("a stored secret")]);
  expect(app.logged.join("")).toContain("a stored secret cannot be opened");
  await app.stop();
});

describe("a lost key", () => {
  const cwd = folderWith();
  const key = join(cwd, "data/secret.key");
  const env = { CORE_ADMIN_TOKEN: adminToken, OUTBOUND_ALLOW: "127.0.0.1" };
  const outside = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => Response.json({ length: request.headers.get("authorization")?.length }),
  });
  let server: ServerProcess;

  beforeAll(async () => {
    server = await startServer(fromSource, { cwd, env });
    const connector = {
      name: "Stock",
      code: "stock",
      url: outside.url.origin,
      secret_token: "the key of the stock service",
      fields: { methods: { ask: { method: "GET", path: "/" } } },
    };
    expect((await api("POST", "/connect/connectors.json", { connector })).status).toBe(201);
    const webhook = { source_type: "Core::Db", kind: "create", url: outside.url.href, api_token: "core_of-another" };
    expect((await api("POST", "/account/webhooks.json", { webhook })).status).toBe(201);
    expect(await callStock()).toMatchObject({ status: 200, json: { data: { length: 35 } } });
  });
  afterAll(() => outside.stop(true));

  const api = (method: string, path: string, body?: unknown) =>
    server.request(method, path, body, { token: adminToken });
  const callStock = () => api("POST", "/connect/connectors/stock/ask.json", {});
  const cannotOpen = { status: 502, json: { error: expect.stringContaining("secret_token cannot be opened") } };

  test("refuses the start and makes no new one, and goes on where it is put back", async () => {
    expect(await server.stop()).toBe(0);
    renameSync(key, `${key}.away`);
    for (const command of [[], ["token", "create", "--user", "admin"]]) {
      const refused = await run([...fromSource, ...command], { cwd, env });
      expect([refused.code, refused.stderr.trim().split("\n").length]).toEqual([1, 1]);
      expect(refused.stderr).toContain(`${key} is missing`);
      expect(refused.stderr).toContain("corestead secret-key accept");
    }
    expect(existsSync(key)).toBe(false);
    renameSync(`${key}.away`, key);
    server = await startServer(fromSource, { cwd, env });
    expect(await callStock()).toMatchObject({ status: 200 });
  });

  test("is named by a backup, which does not hold it", async () => {
    const made = await run([...fromSource, "backup", "core.backup"], { cwd, env });
    expect(made.stdout).toMatch(
      /does not hold the secret key \(fingerprint [0-9a-f]{16}\): keep a copy of .*secret\.key/,
    );
    expect(await server.stop()).toBe(0);
    renameSync(key, `${key}.away`);
    const without = await run([...fromSource, "backup", "later.backup"], { cwd, env });
    expect([without.code, without.stdout]).toEqual([0, expect.stringContaining("warning: there is no secret key in")]);
    renameSync(`${key}.away`, key);
  });

  test("makes a restore and the start after it warn, until it is put into its place", async () => {
    const other = folderWith();
    const restored = await run([...fromSource, "restore", join(cwd, "core.backup")], { cwd: other, env });
    expect(restored.code).toBe(0);
    expect(restored.stdout).toMatch(
      /is restored\nwarning: the restored secrets are sealed with the key of fingerprint/,
    );
    server = await startServer([...fromSource, "serve", "--adopt"], { cwd: other, env });
    expect(server.stderr()).toContain("the restored secrets are sealed with the key of fingerprint");
    expect(await callStock()).toMatchObject(cannotOpen);
    expect(await server.stop()).toBe(0);
    await Bun.write(join(other, "data/secret.key"), Bun.file(key));
    server = await startServer(fromSource, { cwd: other, env });
    expect(await callStock()).toMatchObject({ status: 200 });
    expect(server.stderr()).toBe("");
    expect(await server.stop()).toBe(0);
    // If the key is put in place first, there is nothing to warn about.
    const third = folderWith();
    await Bun.write(join(third, "data/secret.key"), Bun.file(key));
    const silent = await run([...fromSource, "restore", join(cwd, "core.backup")], { cwd: third, env });
    expect(silent.stdout).not.toContain("warning");
  });

  test("is given up by a command; what was sealed is entered again", async () => {
    rmSync(key);
    const accepted = await run([...fromSource, "secret-key", "accept"], { cwd, env });
    expect([accepted.code, accepted.stdout]).toEqual([0, expect.stringContaining("is in use from now on")]);
    server = await startServer(fromSource, { cwd, env });
    expect(await callStock()).toMatchObject(cannotOpen);
    const connector = { secret_token: "another key of the stock service" };
    expect((await api("PATCH", "/connect/connectors/stock.json", { connector })).status).toBe(200);
    expect(await callStock()).toMatchObject({ status: 200, json: { data: { length: 39 } } });

    const seen = new Set<number>();
    const deliveryOf = async (code: string) => {
      expect((await api("POST", "/core/dbs.json", { db: { name: code, code } })).status).toBe(201);
      const delivery = await eventually(async () => {
        const { json } = await api("GET", "/account/webhooks/1/deliveries.json");
        return json.find(({ id, attempts }: { id: number; attempts: number }) => attempts === 1 && !seen.has(id));
      }, "an attempt");
      seen.add(delivery.id);
      return delivery;
    };
    expect(await deliveryOf("before")).toMatchObject({ error: expect.stringContaining("rotate the signing secret") });
    expect((await api("POST", "/account/webhooks/1/rotate_secret.json")).status).toBe(200);
    expect((await api("PATCH", "/account/webhooks/1.json", { webhook: { api_token: "core_new" } })).status).toBe(200);
    expect(await deliveryOf("after")).toMatchObject({ status: "delivered", error: null });
    expect(await server.stop()).toBe(0);
  });
});

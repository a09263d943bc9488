/** The versions between Debian's (tests/cluster) and the embedded one: migrated, toured, and written to. */
// needs: older-postgresql
import { describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pageWithTour, withoutVariables } from "../scripts/tour.ts";
import { adminToken, startTestApp, type TestApp } from "./harness.ts";
import { startOtherPostgres } from "./other-postgres.ts";

const root = resolve(import.meta.dir, "..");

describe.each(["16", "17"])("PostgreSQL %s", (version) => {
  const native = join(root, `.tools/postgres/node_modules/postgres${version}/native`);
  const missing = existsSync(native) ? "" : " (skipped: scripts/test could not fetch it)";

  test.skipIf(missing !== "")(`takes all migrations, the tour and records${missing}`, async () => {
    const server = await startOtherPostgres(native);
    const folder = mkdtempSync(join(tmpdir(), "corestead-tour-"));
    try {
      const app = await startTestApp({ target: server.target });
      const [row] = await app.sql`select current_setting('server_version') as version`;
      expect(row?.["version"]).toStartWith(`${version}.`);
      const printed = await pageWithTour(app.origin, adminToken, folder);
      expect(withoutVariables(printed)).toBe(withoutVariables(readFileSync(join(root, "docs/tour.md"), "utf8")));
      await useRecords(app);
      await app.stop();
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

async function useRecords(app: TestApp): Promise<void> {
  const schema = { fields: { name: "string", price: "integer" } };
  expect((await app.post("/core/dbs.json", { db: { name: "Goods", code: "version_goods", schema } })).status).toBe(201);
  const path = "/core/dbs/version_goods";
  const records = ["lamp", "table", "chair"].map((name, n) => ({ data: { name, price: n } }));
  const made = await Promise.all(records.map((record) => app.post(`${path}/records.json`, { record })));
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
  const id = made[0]?.json.id;
  expect((await app.patch(`${path}/records/${id}.json`, { record: { data: { price: 9 } } })).json.data.price).toBe(9);
  expect((await app.get(`${path}/records.json?filter[name]=table`)).json).toHaveLength(1);
  expect((await app.get(`${path}/records.json?q=hai`)).json).toHaveLength(1);
  expect((await app.get(`${path}/aggregate.json?sum=price`)).json[0].sum).toEqual({ price: 12 });
  expect((await app.delete(`${path}/records/${id}.json`)).status).toBeLessThan(300);
  expect((await app.get(`${path}/records.json`)).json).toHaveLength(2);
}

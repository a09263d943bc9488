import { expect, test } from "bun:test";
import { createLog } from "../../../runtime/system/log.ts";
import { eventually, startTestApp } from "../../../tests/harness.ts";
import { createFragments } from "./fragments.ts";

test("what was written is found at once, and the index's list of new entries does not stay", async () => {
  await using stack = new AsyncDisposableStack();
  const app = await startTestApp();
  stack.defer(() => app.stop());
  await app.sql`create extension pgstattuple`;
  const schema = { fields: { name: "string" }, indexed_fields: ["name"] };
  await app.post("/core/dbs", { db: { name: "people", schema } });
  const operations = Array.from({ length: 1000 }, (_, n) => ({ op: "create", data: { name: `Person number ${n}` } }));
  expect((await app.post("/core/dbs/people/batch.json", { operations })).status).toBe(200);
  await app.post("/core/dbs/people/records", { record: { data: { name: "Zuzanna Żółw" } } });
  expect((await app.get("/core/dbs/people/search.json?q=anna%20%C5%BB%C3%93%C5%82")).json).toHaveLength(1);
  await eventually(async () => {
    const [row] = await app.sql`select pending_tuples from pgstatginindex('records_fragments')`;
    return row?.["pendingTuples"] === 0;
  });
  expect((await app.get("/core/dbs/people/search.json?q=anna%20%C5%BB%C3%93%C5%82")).json).toHaveLength(1);
});

test("the list is emptied once for many writes, again for those that came meanwhile, and not after the end", async () => {
  const lines: string[] = [];
  const log = createLog("warn", (text) => lines.push(text));
  let times = 0;
  const first = Promise.withResolvers<void>();
  const empty = async () => {
    times++;
    if (times === 1) await first.promise;
    else throw new Error("must be owner of index records_fragments");
  };
  const fragments = createFragments({ log }, { exists: async () => true, empty });
  await fragments.prepare();
  fragments.searched();
  for (let n = 0; n < 100; n++) fragments.wrote();
  await eventually(() => times === 1);
  fragments.wrote();
  first.resolve();
  await eventually(() => lines.length === 1);
  expect(lines[0]).toContain("must be owner of index");
  await fragments.stop();
  fragments.wrote();
  expect(times).toBe(2);
});

test("while nobody searches the list waits for more, until it is long; where there is no index, nothing is emptied", async () => {
  const log = createLog("error", () => {});
  const emptied: string[] = [];
  const [few, searched, many, without] = ["few", "searched", "many", "without"].map((name) =>
    createFragments({ log }, { exists: async () => name !== "without", empty: async () => void emptied.push(name) }),
  );
  for (const fragments of [few, searched, many, without]) await fragments?.prepare();
  few?.wrote();
  searched?.wrote();
  searched?.searched();
  for (let n = 0; n < 20_000; n++) {
    without?.wrote();
    many?.wrote();
  }
  await eventually(() => emptied.length === 2);
  expect(emptied).toEqual(["many", "searched"]);
  for (const fragments of [few, searched, many, without]) await fragments?.stop();
});

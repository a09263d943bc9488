/** Fields of the format `file`, by every way in. behaviour B.7.28. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, otherAccount, startTestApp, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
let ids: { photo: string; other: string; gone: string; stranger: string };
const base = "/core/dbs/pictured";

const upload = async (from: Pick<TestApp, "post">, name: string) => {
  const form = new FormData();
  form.append("file", new Blob([name]), name);
  const made = await from.post("/core/media.json", undefined, { raw: form });
  expect([made.status, made.text]).toEqual([201, expect.any(String)]);
  return made.json.id as string;
};

beforeAll(async () => {
  app = await startTestApp();
  const gone = await upload(app, "gone.txt");
  ids = {
    photo: await upload(app, "a.txt"),
    other: await upload(app, "b.txt"),
    gone,
    stranger: await upload(await otherAccount(app), "c.txt"),
  };
  const fields = {
    photo: { type: "string", format: "file" },
    all: { type: "list", format: "file" },
    name: "string",
  };
  const public_methods = { create: true, update: true };
  const schema = { history: true, fields };
  const made = await app.post("/core/dbs", { db: { name: "Pictured", code: "pictured", schema, public_methods } });
  expect(made.status).toBe(201);
});
afterAll(() => app.stop());

const add = (data: object) => app.post(`${base}/records`, { record: { data } });
const patch = (id: string, data: object) => app.patch(`${base}/records/${id}`, { record: { data } });
const unknown = (...names: string[]) => Object.fromEntries(names.map((name) => [name, ["is unknown"]]));

test("a record names files of its account alone, in lists too", async () => {
  const made = await add({ photo: ids.photo.toUpperCase(), all: [ids.photo, ids.other] });
  expect(made.status).toBe(201);
  const none = crypto.randomUUID();
  expect((await add({ photo: none })).json).toEqual(unknown("photo"));
  expect((await add({ photo: ids.stranger, all: [ids.photo, none] })).json).toEqual(unknown("photo", "all"));
  expect((await patch(made.json.id, { photo: none })).json).toEqual(unknown("photo"));
  expect((await patch(made.json.id, { all: [], photo: null, name: none })).status).toBe(200);
});

test("so it is by every other way in", async () => {
  const none = crypto.randomUUID();
  const operations = [ids.photo, none].map((photo) => ({ op: "create", data: { photo } }));
  const batch = await app.post(`${base}/batch`, { operations });
  expect([batch.status, batch.json]).toEqual([422, { "operations[1].data.photo": ["is unknown"] }]);
  const imported = await app.request("POST", `${base}/import`, undefined, {
    raw: `photo,name\n${ids.photo},a\n${none},b\n`,
    headers: { "content-type": "text/csv" },
  });
  expect(imported.json.errors).toEqual([{ row: 2, line: 3, field: "photo", message: "is unknown" }]);
  const visitor = await app.post("/core/db/pictured/create", { data: { photo: none } }, { token: null });
  expect([visitor.status, visitor.json.errors]).toEqual([422, unknown("photo")]);
  const { json } = await add({ name: "bulk" });
  const task = await app.post(`${base}/bulk?filter[name]=bulk`, { op: "update", data: { photo: none }, all: true });
  const ended = await eventually(async () => {
    const { json: now } = await app.get(`${base}/tasks/${task.json.id}`);
    return now.status === "running" ? undefined : now;
  });
  expect([ended.failed, ended.errors[0]]).toEqual([
    1,
    expect.objectContaining({ id: json.id, field: "photo", message: "is unknown" }),
  ]);
});

test("a file that is gone stays where it is, and comes to no other record", async () => {
  const { json: record } = await add({ photo: ids.gone, all: [ids.gone] });
  const { json: later } = await add({ photo: ids.gone });
  await patch(later.id, { photo: null });
  expect((await app.delete(`/core/media/${ids.gone}`)).status).toBeLessThan(300);
  expect((await patch(record.id, { photo: ids.gone, name: "same" })).status).toBe(200);
  expect((await patch(record.id, { all: [ids.photo, ids.gone] })).status).toBe(200);
  expect((await add({ photo: ids.gone })).json).toEqual(unknown("photo"));
  const restored = await app.post(`${base}/records/${later.id}/history/1/restore`);
  expect([restored.status, restored.json]).toEqual([422, unknown("photo")]);
});

/** Fields of the format `file`, by every way in. behaviour B.7.28. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  eventually,
  otherAccount,
  person,
  startTestApp,
  type TestApp,
  type TestPerson,
} from "../../../tests/harness.ts";
import { drawn } from "../../../tests/fixtures/media-files.ts";

let app: TestApp;
let ids: { photo: string; other: string; gone: string; stranger: string };
const base = "/core/dbs/pictured";

const upload = async (from: Pick<TestApp, "post">, name: string, bytes: string | Uint8Array<ArrayBuffer> = name) => {
  const form = new FormData();
  form.append("file", new Blob([bytes]), name);
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

describe("whoever may read a record, without the privilege `media`", () => {
  const code = "album";
  const fields = {
    photo: { type: "string", format: "file" },
    secret: { type: "string", format: "file" },
    all: { type: "list", format: "file" },
    name: "string",
    note: "string",
  };
  const at = `/core/dbs/${code}/records`;
  let seller: TestPerson;
  let mine: string;
  let closed: string;
  const files: Record<"photo" | "secret" | "closed" | "free" | "picture", string> = {
    photo: "",
    secret: "",
    closed: "",
    free: "",
    picture: "",
  };
  const as = () => ({ token: seller.token });
  // Its type is that of the file, which no description can name.
  const read = async (record: string, file: string, headers: Record<string, string> = {}, token = seller.token) => {
    const sent = { authorization: `Bearer ${token}`, ...headers };
    const response = await fetch(`${app.origin}${at}/${record}/files/${file}`, { headers: sent });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const put = (record: string, data: object) => app.patch(`${at}/${record}`, { record: { data } }, as());

  beforeAll(async () => {
    seller = await person(app, { role: "user" });
    for (const name of ["photo", "secret", "closed", "free"] as const) files[name] = await upload(app, `${name}.html`);
    files.picture = await upload(app, "picture.png", Uint8Array.from(await drawn(400, 300)));
    const access = [{ to: "everyone", may: "edit", where: { name: "open" }, hide: ["secret"] }];
    const made = await app.post("/core/dbs", { db: { name: code, code, access, schema: { fields } } });
    expect(made.status).toBe(201);
    const record = async (data: object) => (await app.post(at, { record: { data } })).json.id as string;
    mine = await record({ name: "open", photo: files.photo, secret: files.secret, all: [files.picture] });
    closed = await record({ name: "closed", photo: files.closed });
  });

  test("reads its files, with the headers and ranges of the library", async () => {
    expect((await app.get(`/media/${files.photo}/photo.html`, as())).status).toBe(404);
    const whole = await read(mine, files.photo.toUpperCase());
    expect([whole.status, whole.text]).toEqual([200, "photo.html"]);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      "cache-control": "private, no-cache",
      "content-disposition": expect.stringMatching(/^inline; filename="photo.html"/),
      "content-security-policy": expect.stringContaining("sandbox"),
      "x-content-type-options": "nosniff",
    });
    const tag = whole.headers.get("etag") ?? "";
    expect((await read(mine, files.photo, { "if-none-match": tag })).status).toBe(304);
    const part = await read(mine, files.photo, { range: "bytes=0-4" });
    expect([part.status, part.text]).toEqual([206, "photo"]);
    const small = await read(mine, `${files.picture}?size=160.webp`);
    expect([small.status, small.headers.get("content-type")]).toEqual([200, "image/webp"]);
    expect((await read(mine, `${files.picture}?size=161.webp`)).status).toBe(404);
  });

  test("reads no file of a hidden field, of another record, or of one that is not theirs to read", async () => {
    const gone = await upload(app, "gone2.txt");
    await app.patch(`${at}/${mine}`, { record: { data: { all: [files.picture, gone] } } });
    await app.delete(`/core/media/${gone}`);
    for (const [record, file] of [
      [mine, files.secret],
      [mine, files.closed],
      [mine, files.free],
      [mine, gone],
      [mine, "x"],
      [closed, files.closed],
      [closed, files.photo],
    ] as const)
      expect([record === mine, file, (await read(record, file)).status]).toEqual([record === mine, file, 404]);
    const stranger = await otherAccount(app);
    expect((await stranger.get(`${at}/${mine}/files/${files.photo}`)).status).toBe(404);
    const token = async (databases: object) => {
      const api_token = { name: "narrow", privileges: ["dbs"], databases };
      return (await app.post("/account/api_tokens", { api_token }, { token: seller.token })).json.token as string;
    };
    const { json: other } = await app.post("/core/dbs", {
      db: { name: "Other", code: "other_album", schema: { fields } },
    });
    const { json: own } = await app.get(`/core/dbs/${code}`);
    expect((await read(mine, files.photo, {}, await token({ [own.id]: "read" }))).status).toBe(200);
    const narrow = await read(mine, files.photo, {}, await token({ [other.id]: "read" }));
    expect([403, 404]).toContain(narrow.status);
    expect((await read(mine, files.photo, {}, "none")).status).toBe(401);
  });

  test("opens no other file by writing its id: what the record has may stay", async () => {
    expect((await put(mine, { photo: files.photo, name: "open" })).status).toBe(200);
    expect((await put(mine, { photo: files.free })).json).toEqual(unknown("photo"));
    expect((await put(mine, { all: [files.picture, files.secret] })).json).toEqual(unknown("all"));
    const data = { name: "open", photo: files.free };
    expect((await app.post(at, { record: { data } }, as())).json).toEqual(unknown("photo"));
    const operations = [{ op: "create", data }];
    const batch = await app.post(`/core/dbs/${code}/batch`, { operations }, as());
    expect(batch.json).toEqual({ "operations[0].data.photo": ["is unknown"] });
    const imported = await app.request("POST", `/core/dbs/${code}/import`, undefined, {
      token: seller.token,
      raw: `name,photo\nopen,${files.free}\n`,
      headers: { "content-type": "text/csv" },
    });
    expect(imported.json.errors).toMatchObject([{ field: "photo", message: "is unknown" }]);
    const visitor = await app.post("/core/db/pictured/create", { data: { photo: files.free } }, { token: null });
    expect([visitor.status, visitor.json.errors]).toEqual([422, unknown("photo")]);
    expect((await app.patch(`/core/media/${files.free}`, { media: { is_public: true } })).status).toBe(200);
    expect((await put(mine, { photo: files.free })).status).toBe(200);
  });

  test("nor by another table, or by another schema", async () => {
    const schema = { tables: { plain: { fields: { name: "string" } }, pictures: { fields: { photo: fields.photo } } } };
    const { json } = await app.post("/core/dbs", { db: { name: "Two", code: "two", schema } });
    const access = [{ to: `user:${seller.id}`, may: "manage" }];
    expect((await app.patch("/core/dbs/two", { db: { access } })).status).toBe(200);
    const record = { table_name: "plain", data: { name: "a", photo: files.secret } };
    const made = await app.post("/core/dbs/two/records", { record }, as());
    expect([json.code, made.status]).toEqual(["two", 201]);
    const path = `/core/dbs/two/records/${made.json.id}`;
    const moved = await app.patch(path, { record: { table_name: "pictures", data: {} } }, as());
    expect([moved.status, moved.json]).toEqual([422, unknown("photo")]);
    schema.tables.plain.fields = { name: "string", photo: fields.photo } as never;
    const changed = await app.patch("/core/dbs/two", { db: { schema } }, as());
    expect([changed.status, changed.json.error]).toEqual([403, expect.stringContaining("files in photo")]);
    expect((await app.patch("/core/dbs/two", { db: { schema } })).status).toBe(200);
  });
});

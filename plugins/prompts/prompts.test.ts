import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  adminToken,
  otherAccount,
  person,
  startTestApp,
  type OtherAccount,
  type TestApp,
} from "../../tests/harness.ts";
import { follower, traces } from "../../tests/traces.ts";
import { plugins } from "../index.ts";
import { tokens } from "../tokens/api.ts";

let app: TestApp;
let other: OtherAccount;
let admin: number;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  other = await otherAccount(app);
  admin = (await app.get("/account/me.json")).json.id;
});
afterAll(() => app.stop());

const tables = ["prompts", "prompt_versions"];
const unique = (prefix: string) => `${prefix}_${crypto.randomUUID().slice(0, 8)}`;
const post = (prompt: unknown, token = adminToken) => app.post("/core/prompts.json", { prompt }, { token });
const make = async (fields: object = {}, token?: string) => {
  const answer = await post({ name: "Name", code: unique("code"), content: "Text", ...fields }, token);
  expect(answer).toMatchObject({ status: 201 });
  return answer.json;
};
const nobody = "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e0f";

describe("a prompt", () => {
  test("is made with standard values and shown whole, without its token", async () => {
    const code = unique("work");
    const answer = await post({ name: "Work", code, content: "Do {{ what }}", ai_placeholder: "What?", token: "x" });
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      name: "Work",
      code,
      content: "Do {{ what }}",
      kind: "chat",
      scope: "account",
      scope_id: null,
      ai_placeholder: "What?",
      fields: { ai_placeholder: "What?" },
      created_by_id: admin,
      updated_by_id: null,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const [row] = await app.sql`select token from prompts where id = ${answer.json.id}`;
    expect(row?.["token"]).toMatch(/^[0-9a-f]{48}$/);
    const read = await app.get(`/core/prompts/${answer.json.id}.json`);
    expect([read.status, read.json]).toEqual([200, answer.json]);
    expect((await app.get(`/core/prompts/${answer.json.id}`)).json).toEqual(answer.json);
  });

  test("has its content as it is stored under .md", async () => {
    const content = "Zażółć {{ TOKEN }}\n{% if a %}b{% endif %}\n";
    const { id } = await make({ content });
    const raw = await app.get(`/core/prompts/${id}.md`);
    expect([raw.status, raw.text]).toEqual([200, content]);
    expect(raw.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
  });

  test("is changed field by field; what is left out stays", async () => {
    const made = await make({ ai_placeholder: "a", kind: "agent" });
    await app.sql`update prompts set fields = fields || '{"color": "red"}' where id = ${made.id}`;
    const named = await app.patch(`/core/prompts/${made.id}.json`, {
      prompt: { name: "Other", id: nobody, token: "t" },
    });
    expect(named.status).toBe(200);
    expect(named.json).toEqual({
      ...made,
      name: "Other",
      fields: { ai_placeholder: "a", color: "red" },
      updated_by_id: admin,
      updated_at: expect.any(String),
    });
    const hint = await app.patch(`/core/prompts/${made.id}.json`, { prompt: { ai_placeholder: "b" } });
    expect(hint.json).toMatchObject({ ai_placeholder: "b", fields: { ai_placeholder: "b", color: "red" } });
    const none = await app.patch(`/core/prompts/${made.id}.json`, { prompt: { ai_placeholder: null } });
    expect(none.json).toMatchObject({ ai_placeholder: null, fields: { color: "red" }, kind: "agent", name: "Other" });
    expect((await app.patch(`/core/prompts/${made.id}.json`, { prompt: {} })).json.name).toBe("Other");
  });

  test("is deleted once", async () => {
    const { id } = await make();
    const gone = await app.delete(`/core/prompts/${id}.json`);
    expect([gone.status, gone.text]).toEqual([204, ""]);
    expect((await app.delete(`/core/prompts/${id}.json`)).status).toBe(404);
    expect((await app.get(`/core/prompts/${id}.json`)).status).toBe(404);
    expect(await app.sql`select 1 from prompt_versions where prompt_id = ${id}`).toHaveLength(0);
  });

  test("is nobody's by a malformed, an unknown or another account's id", async () => {
    const stranger = (await other.post("/core/prompts.json", { prompt: { name: "a", code: "a", content: "a" } })).json;
    for (const id of [nobody, stranger.id, "1", "x", "%00", `${nobody}0`, "__proto__", "versions", "'; drop"]) {
      const path = `/core/prompts/${encodeURIComponent(id).replace("%2500", "%00")}`;
      const answers = await Promise.all([
        app.get(`${path}.json`),
        app.get(`${path}.md`),
        app.patch(`${path}.json`, { prompt: { name: "b" } }),
        app.delete(`${path}.json`),
        app.get(`${path}/versions.json`),
        app.post(`${path}/versions/1/restore.json`),
      ]);
      expect({ id, statuses: answers.map(({ status }) => status) }).toEqual({ id, statuses: Array(6).fill(404) });
    }
    expect((await other.get(`/core/prompts/${stranger.id}.json`)).json).toEqual(stranger);
  });

  test("may be called in the common bases' names", async () => {
    for (const code of ["__proto__", "constructor", "toString", "a.b", "A-1", "x".repeat(100)].slice(1)) {
      const made = await make({ code });
      expect((await app.get(`/core/prompts.json?code=${code}`)).json).toEqual([made]);
      expect((await app.get(`/core/prompt/${code}.md`)).text).toBe("Text");
    }
    expect((await post({ name: "a", code: "__proto__", content: "a" })).json).toEqual({ code: [expect.any(String)] });
  });
});

describe("a code", () => {
  test("is taken once within its scope and scope_id, and free in another", async () => {
    const team = (await app.post("/account/teams.json", { team: { name: "A" } })).json.id;
    const team2 = (await app.post("/account/teams.json", { team: { name: "B" } })).json.id;
    const places = [
      { scope: "account" },
      { scope: "user" },
      { scope: "team", scope_id: team },
      { scope: "team", scope_id: team2 },
    ];
    const code = unique("same");
    for (const place of places) await make({ code, ...place });
    const before = await traces(app, ...tables);
    for (const place of places) {
      const again = await post({ name: "a", code, content: "a", ...place });
      expect([again.status, again.json]).toEqual([422, { code: ["is already taken"] }]);
    }
    expect(await traces(app, ...tables)).toEqual(before);
    expect((await other.post("/core/prompts.json", { prompt: { name: "a", code, content: "a" } })).status).toBe(201);
    const moved = (await make({ scope: "user" })).id;
    expect((await app.patch(`/core/prompts/${moved}.json`, { prompt: { code } })).json).toEqual({
      code: ["is already taken"],
    });
  });

  test("is given to one of 200 who ask at once", async () => {
    const code = unique("race");
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => post({ name: `${i}`, code, content: "a" })),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([201, ...Array<number>(199).fill(422)]);
    expect(answers.filter(({ status }) => status === 422).every(({ json }) => json.code.length === 1)).toBe(true);
  });

  test("keeps every change of 50 who change different fields at once", async () => {
    const { id } = await make({ kind: "chat" });
    const changes = [{ name: "New" }, { content: "New" }, { kind: "agent" }, { ai_placeholder: "New" }];
    const answers = await Promise.all(
      Array.from({ length: 48 }, (_, i) => app.patch(`/core/prompts/${id}.json`, { prompt: changes[i % 4] })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const after = (await app.get(`/core/prompts/${id}.json`)).json;
    expect(after).toMatchObject({ name: "New", content: "New", kind: "agent", ai_placeholder: "New" });
    const versions = (await app.get(`/core/prompts/${id}/versions.json`)).json;
    expect(versions.map(({ version }: { version: number }) => version)).toEqual(
      Array.from({ length: 49 }, (_, i) => 49 - i),
    );
  });
});

describe("a field that is wrong", () => {
  const long = "x".repeat(300);
  const cases: [string, unknown][] = [
    ...[null, 1, true, [], {}, "", " \n", long].map((value): [string, unknown] => ["name", value]),
    ...[1, [], "", "a b", "a/b", "ż", ".a", "a.", "../x", "a\nb", long].map((v): [string, unknown] => ["code", v]),
    ...[null, 1, {}, "", "\n ", "x".repeat(200_001)].map((value): [string, unknown] => ["content", value]),
    ...["{{ a", "{% if %}", "{% nope %}", "{{ a | nope }}", "{% if a %}"].map((v): [string, unknown] => ["content", v]),
    ...[1, "", "robot", ["chat"]].map((value): [string, unknown] => ["kind", value]),
    ...[1, "", "world", {}].map((value): [string, unknown] => ["scope", value]),
    ...["1", 1.5, 0, -1, 2 ** 53, [], true].map((value): [string, unknown] => ["scope_id", value]),
    ...[1, [], {}, "x".repeat(1001)].map((value): [string, unknown] => ["ai_placeholder", value]),
  ];
  test.each(cases)("%s: %p is named in the 422, at creation and change", async (field, value) => {
    const whole = { name: "Name", code: unique("code"), content: "Text", scope: "user" };
    const { id } = await make({ scope: "user" });
    const before = await traces(app, ...tables);
    const made = await post({ ...whole, [field]: value });
    expect([made.status, Object.keys(made.json)]).toEqual([422, [field]]);
    expect(made.json[field]).toEqual([expect.any(String)]);
    const changed = await app.patch(`/core/prompts/${id}.json`, { prompt: { [field]: value } });
    expect([changed.status, Object.keys(changed.json)]).toEqual([422, [field]]);
    expect(await traces(app, ...tables)).toEqual(before);
  });

  test("or null where it cannot be is named at a change; in a new prompt it is as good as left out", async () => {
    const { id, kind, scope, scope_id } = await make({ kind: null, scope: null, scope_id: null, ai_placeholder: null });
    expect({ kind, scope, scope_id }).toEqual({ kind: "chat", scope: "account", scope_id: null });
    const changed = await app.patch(`/core/prompts/${id}.json`, { prompt: { kind: null, scope: null } });
    expect([changed.status, Object.keys(changed.json)]).toEqual([422, ["kind", "scope"]]);
  });

  test("is not the short name that is left out: it is made of the name, with a number if that is taken", async () => {
    const made = async () => (await post({ name: "An Answer: ż", content: "a" })).json.code;
    expect([await made(), await made()]).toEqual(["an-answer-z", expect.stringMatching(/^an-answer-z-\d+$/)]);
  });

  test("or missing is named, all at once", async () => {
    expect((await post({})).json).toEqual({ name: ["is required"], content: ["is required"] });
  });

  test("or holds what cannot be stored is named", async () => {
    for (const raw of ['{"prompt":{"name":"a\\u0000","code":"a","content":"a"}}', '{"prompt":{"name":"\\ud800"}}']) {
      const answer = await app.request("POST", "/core/prompts.json", undefined, {
        raw,
        headers: { "content-type": "application/json" },
      });
      expect([answer.status, Object.keys(answer.json)]).toEqual([422, ["name"]]);
    }
  });

  test("a syntax error is told with its line", async () => {
    const answer = await post({ name: "a", code: unique("c"), content: "one\ntwo {% if %}" });
    expect(answer.json.content[0]).toMatch(/line 2/);
  });

  test("a body that is no JSON or lacks its key is 400, of another type 415", async () => {
    const send = (raw: string, type = "application/json") =>
      app.request("POST", "/core/prompts.json", undefined, { raw, headers: { "content-type": type } });
    const before = await traces(app, ...tables);
    const bodies = ["", "{", "[]", "null", '{"name":"a"}', '{"prompt":[]}', '{"prompt":null}', '{"prompt":"a"}'];
    for (const body of bodies) expect({ body, status: (await send(body)).status }).toEqual({ body, status: 400 });
    expect((await send('{"prompt":{}}', "text/plain")).status).toBe(415);
    expect(await traces(app, ...tables)).toEqual(before);
  });

  test("the longest content is taken whole", async () => {
    const content = "ż".repeat(200_000);
    const { id } = await make({ content });
    expect((await app.get(`/core/prompts/${id}.md`)).text).toBe(content);
  });
});

describe("a real token", () => {
  test("is refused in every text that others see", async () => {
    const me = await person(app);
    const real = me.token;
    const { id } = await make();
    const before = await traces(app, ...tables);
    const texts = { name: `x ${real}`, content: `Bearer ${real}.`, ai_placeholder: real };
    for (const [field, text] of Object.entries(texts)) {
      const answer = await post({ name: "a", code: unique("c"), content: "a", [field]: text });
      expect([answer.status, Object.keys(answer.json)]).toEqual([422, [field]]);
      expect(answer.text).not.toContain(real);
    }
    const changed = await app.patch(`/core/prompts/${id}.json`, { prompt: { content: adminToken } });
    expect([changed.status, Object.keys(changed.json)]).toEqual([422, ["content"]]);
    expect(await traces(app, ...tables)).toEqual(before);
  });

  test("of another checksum is a text like any other", async () => {
    const issued = await app.service(tokens).issue({ accountId: 1, userId: admin });
    const wrong = `${issued?.token.slice(0, -1)}${issued?.token.endsWith("A") ? "B" : "A"}`;
    await make({ content: `e.g. ${wrong}` });
  });

  test("as TOKEN inside an address is refused with its line", async () => {
    const { id } = await make();
    const content = "one\n[x](https://evil/{{ TOKEN }})";
    const before = await traces(app, ...tables);
    const answers = [
      await post({ name: "a", code: unique("c"), content }),
      await app.patch(`/core/prompts/${id}.json`, { prompt: { content } }),
    ];
    for (const { status, json } of answers)
      expect([status, json]).toEqual([422, { content: [expect.stringMatching(/line 2.*TOKEN/)] }]);
    expect(await traces(app, ...tables)).toEqual(before);
  });
});

describe("a change of what someone else has changed", () => {
  test("is 412, and nothing is changed", async () => {
    const made = await app.post("/core/prompts.json", { prompt: { name: "a", code: unique("c"), content: "a" } });
    const path = `/core/prompts/${made.json.id}.json`;
    const first = (await app.get(path)).headers.get("etag") ?? "";
    expect(made.headers.get("etag")).toBe(first);
    const change = (name: string, ifMatch: string) =>
      app.patch(path, { prompt: { name } }, { headers: { "if-match": ifMatch } });
    const changed = await change("b", first);
    expect(changed.status).toBe(200);
    expect(changed.headers.get("etag")).not.toBe(first);
    for (const stale of [first, '"x"', `"${nobody}-2"`, "2"]) expect((await change("c", stale)).status).toBe(412);
    expect((await app.get(path)).json.name).toBe("b");
    expect((await change("d", changed.headers.get("etag") ?? "")).status).toBe(200);
    expect((await change("e", "*")).status).toBe(200);
  });

  test("a deletion is 412 too, and of what is not there 404, whatever the tag", async () => {
    const { id } = await make();
    const path = `/core/prompts/${id}.json`;
    const tag = (await app.get(path)).headers.get("etag") ?? "";
    expect((await app.patch(path, { prompt: { name: "b" } })).status).toBe(200);
    expect((await app.delete(path, { headers: { "if-match": tag } })).status).toBe(412);
    expect((await app.get(path)).json.name).toBe("b");
    for (const ifMatch of [tag, '"x"', `"${nobody}-1"`]) {
      const headers = { "if-match": ifMatch };
      expect((await app.patch(`/core/prompts/${nobody}.json`, { prompt: {} }, { headers })).status).toBe(404);
      expect((await app.delete(`/core/prompts/${nobody}.json`, { headers })).status).toBe(404);
      expect((await other.patch(path, { prompt: {} }, { headers })).status).toBe(404);
      expect((await app.post(`/core/prompts/${nobody}/versions/1/restore`, {}, { headers })).status).toBe(404);
    }
    const latest = (await app.get(path)).headers.get("etag") ?? "";
    expect((await app.delete(path, { headers: { "if-match": `"x", ${latest}` } })).status).toBe(204);
  });

  test("is told to one of many with the same version", async () => {
    const { id } = await make();
    const path = `/core/prompts/${id}.json`;
    const tag = (await app.get(path)).headers.get("etag") ?? "";
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        app.patch(path, { prompt: { name: `${i}` } }, { headers: { "if-match": tag } }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array<number>(19).fill(412),
    ]);
  });

  test("an unchanged prompt is 304", async () => {
    const { id } = await make();
    const tag = (await app.get(`/core/prompts/${id}.json`)).headers.get("etag") ?? "";
    const again = await app.get(`/core/prompts/${id}.json`, { headers: { "if-none-match": tag } });
    expect([again.status, again.text]).toEqual([304, ""]);
  });
});

describe("the list", () => {
  test("searches name and code, letter case aside, and filters by exact values", async () => {
    const mark = unique("list");
    const a = await make({ name: `${mark} Ala 100%`, code: `${mark}_a`, kind: "agent" });
    const b = await make({ name: "Bob", code: `${mark}_b` });
    const c = await make({ name: `${mark} c_d`, code: `${mark}_c`, scope: "user" });
    const ids = async (query: string) => {
      const answer = await app.get(`/core/prompts.json?${query}`);
      expect(answer.status).toBe(200);
      const found: string[] = answer.json.map(({ id }: { id: string }) => id);
      expect(answer.headers.get("x-total-count")).toBe(`${found.length}`);
      return found;
    };
    expect(await ids(`q=${mark.toUpperCase()}`)).toEqual([a.id, b.id, c.id]);
    expect(await ids(`q=${mark}_b`)).toEqual([b.id]);
    expect(await ids(`q=${mark}*ala`)).toEqual([a.id].slice(0, 0));
    expect(await ids(`q=${mark}*ala*`)).toEqual([a.id]);
    expect(await ids(`q=${mark}&kind=agent`)).toEqual([a.id]);
    expect(await ids(`q=${mark}&scope=user`)).toEqual([c.id]);
    expect(await ids(`code=${mark}_b`)).toEqual([b.id]);
    expect(await ids(`code=${mark}`)).toEqual([]);
    expect(await ids(`code=${mark}_b&kind=robot`)).toEqual([]);
    expect(await ids(`q=${mark}&scope=world`)).toEqual([]);
    expect(await ids(`q=${mark} c\\_d`)).toEqual([]);
  });

  test("is ordered as asked, and pages never overlap", async () => {
    const mark = unique("order");
    const made: { id: string; code: string }[] = [];
    for (const name of ["b", "c", "a", "a"])
      made.push(await make({ name: `${mark} ${name}`, code: `${mark}_${made.length}` }));
    await app.patch(`/core/prompts/${made[0]?.id}.json`, { prompt: { kind: "agent" } });
    const codes = async (query: string) => {
      const { json } = await app.get(`/core/prompts.json?q=${mark}&${query}`);
      return json.map(({ code }: { code: string }) => code.at(-1)).join("");
    };
    const orders = {
      "": "0123",
      id: "0123",
      id_desc: "3210",
      created_at: "0123",
      created_at_desc: "3210",
      updated_at: "1230",
      updated_at_desc: "0321",
      name: "2301",
      name_desc: "1032",
      code: "0123",
      code_desc: "3210",
    };
    for (const [order, expected] of Object.entries(orders))
      expect([order, await codes(`order_by=${order}`)]).toEqual([order, expected]);
    for (const wrong of ["content", "_desc", "name_desc_desc", "id;drop", "__proto__", "NAME"]) {
      const answer = await app.get(`/core/prompts.json?order_by=${encodeURIComponent(wrong)}`);
      expect([answer.status, Object.keys(answer.json)]).toEqual([422, ["order_by"]]);
    }
    expect(await codes("order_by=name&limit=2")).toBe("23");
    expect(await codes("order_by=name&limit=2&offset=2")).toBe("01");
    expect(await codes("order_by=name&limit=x&offset=-5")).toBe("2301");
    for (const [limit, offset, length] of [
      [1, 99, 0],
      [2, 0, 2],
      [2, 2, 2],
      [9, 3, 1],
      [9, 0, 4],
    ]) {
      const page = await app.get(`/core/prompts.json?q=${mark}&limit=${limit}&offset=${offset}`);
      expect([page.json.length, page.headers.get("x-total-count")]).toEqual([length, "4"]);
    }
  });

  test("does no harm with what no query means", async () => {
    for (const name of ["q", "code", "kind", "scope"]) {
      for (const value of ["%00", "%27%3B--", "%25", "%5C", "__proto__", "x".repeat(5000)])
        expect([name, value, (await app.get(`/core/prompts.json?${name}=${value}`)).status < 500]).toEqual([
          name,
          value,
          true,
        ]);
    }
  });

  test("leaves built-in prompts and those of other accounts out", async () => {
    const { json } = await other.get("/core/prompts.json?limit=1000");
    const ours = (await app.get("/core/prompts.json?limit=1000")).json.map(({ id }: { id: string }) => id);
    expect(json.filter(({ id }: { id: string }) => ours.includes(id))).toEqual([]);
    expect((await app.get("/core/prompts.json?code=prompts_api")).json).toEqual([]);
  });
});

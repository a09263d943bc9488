import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { otherAccount, person, startTestApp, type TestApp } from "../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  await app.post("/core/prompts.json", { prompt: { name: "Weather report", code: "report", content: "x" } });
  await app.post("/core/prompts.json", { prompt: { name: "Daily weather", code: "daily", content: "x" } });
  await app.post("/core/dbs.json", { db: { name: "Weather", code: "weather_data" } });
  await app.post("/connect/flows.json", {
    flow: { name: "Ask for the weather", code: "ask", fields: { program: [{ type: "return", value: "x" }] } },
  });
  await app.post("/account/api_tokens.json", { api_token: { name: "weather station", code: "station" } });
  await app.post("/account/teams.json", { team: { name: "Weather people" } });
});
afterAll(() => app.stop());

interface SearchResult {
  readonly path: string;
  readonly id: string | number;
  readonly code: string | null;
  readonly name: string;
}
async function find(words: string, options: { token?: string } = {}): Promise<SearchResult[]> {
  const answer = await app.get(`/core/search.json?q=${encodeURIComponent(words)}`, options);
  expect(answer.status).toBe(200);
  return answer.json;
}

describe("a search by name", () => {
  test("finds in every list, the exact name first, then what begins so", async () => {
    const found = await find("weather");
    expect(found[0]).toMatchObject({ path: "/core/dbs", name: "Weather", code: "weather_data" });
    expect(
      found
        .slice(1, 4)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(["Weather people", "Weather report", "weather station"]);
    expect(found.map(({ path }) => path)).toEqual(
      expect.arrayContaining(["/connect/flows", "/core/prompts", "/account/api_tokens"]),
    );
    expect(found.find(({ name }) => name === "weather station")).toMatchObject({
      path: "/account/api_tokens",
      code: "station",
    });
  });

  test("finds by code, and answers with ids that the lists' own routes know", async () => {
    const [row] = await find("station");
    expect(row?.name).toBe("weather station");
    for (const { path, id } of (await app.get("/core/search.json?q=weather")).json)
      expect([path, (await app.get(`${path}/${id}.json`)).status]).toEqual([path, 200]);
  });

  test("shows nobody what they may not list", async () => {
    const { token } = await person(app, { role: "guest" });
    expect(await find("weather", { token })).toEqual([]);
    const narrowed = await app.post("/account/api_tokens.json", { api_token: { privileges: ["dbs"] } });
    const paths = (await find("weather", { token: narrowed.json.token })).map(({ path }) => path);
    expect(new Set(paths)).toEqual(new Set(["/core/dbs"]));
    const other = await otherAccount(app);
    expect((await other.get("/core/search.json?q=weather")).json).toEqual([]);
    expect((await app.get("/core/search.json?q=x", { token: null })).status).toBe(401);
  });

  test.each(["", " ", "x".repeat(201), "a\0b"])("of %j is refused by its field", async (words) => {
    const answer = await app.get(`/core/search.json?q=${encodeURIComponent(words)}`);
    expect([answer.status, Object.keys(answer.json)]).toEqual([422, ["q"]]);
  });

  test.each(["%", "'", "\\", "[x", "\u202e", "*".repeat(200), "a".repeat(200)])(
    "of %j is an ordinary one",
    async (words) => {
      expect(Array.isArray(await find(words))).toBe(true);
    },
  );

  test("finds records of databases by title and indexed texts, as far as one may read them", async () => {
    const fields = { no: "integer", subject: "string", note: "string", secret: "string", owner: "string" };
    const schema = { fields, indexed_fields: ["subject", "secret"] };
    await app.post("/core/dbs", { db: { name: "Letters", code: "letters", schema } });
    const add = async (data: object) =>
      (await app.post("/core/dbs/letters/records", { record: { data } })).json.id as string;
    const ids = {
      own: await add({ subject: "Tornado ahead", owner: "ann", secret: "quake-1" }),
      other: await add({ subject: "A tornado passed", owner: "bob", note: "hurricane" }),
      blank: await add({ secret: "tornado warning", owner: "ann" }),
    };
    const found = async (words: string, options = {}) =>
      (await find(words, options)).filter(({ path }) => path === "/core/dbs/letters/records");
    expect(await found("tornado")).toEqual([
      { path: "/core/dbs/letters/records", id: ids.own, name: "Tornado ahead", code: null },
      { path: "/core/dbs/letters/records", id: ids.blank, name: ids.blank, code: null },
      { path: "/core/dbs/letters/records", id: ids.other, name: "A tornado passed", code: null },
    ]);
    expect(await found("hurricane")).toEqual([]);
    const who = await person(app, { role: "guest" });
    expect(await found("tornado", who)).toEqual([]);
    const access = [{ to: `user:${who.id}`, may: "read", where: { owner: "ann" }, hide: ["secret"] }];
    expect((await app.patch("/core/dbs/letters", { db: { access } })).status).toBe(200);
    expect(await found("tornado", who)).toMatchObject([{ id: ids.own, name: "Tornado ahead" }]);
    expect(await found("quake", who)).toEqual([]);
    const hiding = [{ to: `user:${who.id}`, may: "read", hide: ["subject"] }];
    await app.patch("/core/dbs/letters", { db: { access: hiding } });
    expect(await found("tornado", who)).toMatchObject([{ id: ids.blank, name: ids.blank }]);
    const narrowed = await app.post("/account/api_tokens", { api_token: { privileges: ["prompts"] } });
    expect(await found("tornado", { token: narrowed.json.token })).toEqual([]);
    for (let n = 0; n < 5; n++) await add({ subject: `Many tornados ${n}` });
    expect(await found("tornados")).toHaveLength(3);
  });

  test("of what many have is bounded", async () => {
    for (let n = 0; n < 12; n++) await app.post("/account/teams.json", { team: { name: `Zebra ${n}` } });
    expect(await find("zebra")).toHaveLength(8);
  });
});

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

  test("of what many have is bounded", async () => {
    for (let n = 0; n < 12; n++) await app.post("/account/teams.json", { team: { name: `Zebra ${n}` } });
    expect(await find("zebra")).toHaveLength(8);
  });
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually, otherAccount, person, startTestApp, type TestApp } from "../../tests/harness.ts";
import { followStream, type Following } from "../../tests/event-stream.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const follow = (path: string, options: Following = {}) =>
  followStream(`${app.origin}/core/events?path=${encodeURIComponent(path)}`, options);

describe("who follows a list", () => {
  test("hears of each creation, change and deletion, and of nothing in other lists", async () => {
    const stream = await follow("/core/prompts");
    const other = await follow("/account/users");
    const heard = (count: number) => eventually(() => stream.events.length === count);
    const made = await app.post("/core/prompts.json", { prompt: { name: "A", code: "a", content: "x" } });
    await heard(1);
    expect(stream.events[0]).toMatchObject({ event: "changed", data: { path: "/core/prompts" } });
    await app.patch(`/core/prompts/${made.json.id}.json`, { prompt: { content: "y" } });
    await heard(2);
    await app.delete(`/core/prompts/${made.json.id}.json`);
    await heard(3);
    await person(app);
    await eventually(() => other.events.length > 0);
    expect([stream.events.length, other.events[0]?.data]).toEqual([3, { path: "/account/users" }]);
    await Promise.all([stream.close(), other.close()]);
  });

  test("hears nothing of other accounts", async () => {
    const stranger = await otherAccount(app);
    const as = { token: stranger.adminToken, headers: { host: stranger.host } };
    const [mine, theirs] = [await follow("/core/prompts"), await follow("/core/prompts", as)];
    await stranger.post("/core/prompts.json", { prompt: { name: "B", code: "b", content: "x" } });
    await eventually(() => theirs.events.length === 1);
    expect(mine.events).toEqual([]);
    await Promise.all([mine.close(), theirs.close()]);
  });

  test("may read it", async () => {
    const { token } = await person(app, { role: "guest" });
    expect((await follow("/core/prompts", { token })).status).toBe(403);
    expect((await follow("/core/prompts", { token: "" })).status).toBe(401);
  });

  test.each(["", "/core/records", "/connect/flow_processes", "/core/prompts/system", "nonsense"])(
    "and %p is no list that can be followed",
    async (path) => {
      const answer = await app.get(`/core/events?path=${encodeURIComponent(path)}`);
      const lists =
        "/account/users, /account/api_tokens, /core/prompts, /core/apps, /core/backups, /core/dbs, /cms/pages, /cms/articles";
      expect([answer.status, answer.json.path[0].replace("must be one of ", "").split(", ").toSorted()]).toEqual([
        422,
        lists.split(", ").toSorted(),
      ]);
    },
  );

  test("has at most twenty streams", async () => {
    const { token } = await person(app);
    const streams = await Promise.all(Array.from({ length: 20 }, () => follow("/core/prompts", { token })));
    expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200));
    expect((await follow("/core/prompts", { token })).status).toBe(429);
    await Promise.all(streams.map((stream) => stream.close()));
    await eventually(async () => {
      const again = await follow("/core/prompts", { token });
      await again.close();
      return again.status === 200;
    });
  });
});

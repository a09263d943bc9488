/** What a plugin's own table, its formats and its forms refuse: a clear 422, and for browsers a page. */
import { Type } from "@sinclair/typebox";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../../tests/harness.ts";
import { plugins } from "../../../plugins/index.ts";
import { definePlugin } from "../../plugin/plugin.ts";
import { created, ok } from "../answers/reply.ts";
import { route } from "../route.ts";

const access = { open: "a test" } as const;
const sql = `
  create table rooms (
    account_id bigint not null references accounts,
    id int primary key,
    stars int check (stars between 1 and 5),
    beds int constraint rooms_check_beds check (beds < 10),
    color varchar(5),
    small smallint,
    name text not null default 'x',
    owner_id bigint,
    days int4range,
    constraint rooms_owner_id_fkey foreign key (owner_id) references accounts,
    constraint rooms_exclusion_days exclude using gist (days with &&),
    constraint odd check (stars <> 3)
  );`;

let app: TestApp;
beforeAll(async () => {
  const rooms = definePlugin({
    name: "rooms",
    migrations: [{ name: "001_rooms", sql }],
    setup: (ctx) => ({
      routes: [
        route(
          "POST",
          "/rooms",
          { summary: "x", access, input: "any", responses: { 201: {} } },
          async ({ account, body }) => {
            const values: Record<string, string> = Object.fromEntries(Object.entries(Object(body)));
            const row = { account_id: account.id, id: 1, ...values };
            await ctx.sql`insert into rooms ${ctx.sql(row)}`;
            return created({});
          },
        ),
        route(
          "POST",
          "/rooms/form",
          {
            summary: "x",
            access,
            input: "form",
            body: {
              schema: Type.Object({
                day: Type.String({ format: "date" }),
                at: Type.Optional(Type.String({ format: "date-time" })),
                stars: Type.Optional(Type.String({ pattern: "^[1-5]$", description: "1 to 5" })),
              }),
            },
            responses: { 200: {} },
          },
          ({ body }) => ok(body),
        ),
      ],
    }),
  });
  app = await startTestApp({ plugins: [...plugins, rooms] });
  expect((await app.post("/rooms", { id: 100, days: "[1,5)" })).status).toBe(201);
});
afterAll(() => app.stop());

describe("what a table refuses is 422 by field:", () => {
  test.each<[string, object, object]>([
    ["a check of one column", { stars: 9 }, { stars: ["is not allowed"] }],
    ["a check with a name of its own", { beds: 10 }, { beds: ["is not allowed"] }],
    ["a check of any name", { stars: 3 }, { base: ["is not allowed"] }],
    ["a column that must be there", { name: null }, { name: ["is required"] }],
    ["a text that is too long", { color: "purple" }, { base: ["has a text that is too long"] }],
    ["a number out of range", { small: 40_000 }, { base: ["has a number that is out of range"] }],
    [
      "a reference to nothing",
      { owner_id: 999_999 },
      { owner_id: ["refers to something that does not exist, or others still refer to it"] },
    ],
    ["an exclusion", { days: "[4,9)" }, { days: ["conflicts with another one"] }],
  ])("%s", async (_, body, expected) => {
    const answer = await app.post("/rooms", body);
    expect([answer.status, answer.json]).toEqual([422, expected]);
    expect((await app.sql`select id from rooms`).length).toBe(1);
  });
});

describe("a form", () => {
  const form = (body: string, headers: Record<string, string> = {}) =>
    app.request("POST", "/rooms/form", undefined, {
      token: null,
      raw: body,
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    });
  const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

  test("takes days and times of the calendar alone", async () => {
    const good = await form("day=2024-02-29&at=2026-01-31T10:00:00Z");
    expect([good.status, good.json]).toEqual([200, { day: "2024-02-29", at: "2026-01-31T10:00:00Z" }]);
    const wrong = await form("day=2026-02-31&at=2026-02-31T10:00:00Z");
    expect([wrong.status, wrong.json]).toEqual([
      422,
      {
        day: ["must be a date like 2026-01-31"],
        at: ["must be a date and time with offset like 2026-01-31T10:00:00Z"],
      },
    ]);
  });

  test("that is refused is a page for a browser, field by field, and JSON for a program", async () => {
    const answer = await form("day=&stars=%3Cscript%3E", browser);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([422, "text/html; charset=utf-8"]);
    expect(answer.text).toContain("day must be a date like 2026-01-31\nstars must be 1 to 5");
    expect(answer.text).not.toContain("<script");
    const large = await form(`day=${"x".repeat(20_000)}`, browser);
    expect([large.status, large.headers.get("content-type")]).toEqual([413, "text/html; charset=utf-8"]);
    expect((await form("day=x")).json).toEqual({ day: ["must be a date like 2026-01-31"] });
  });
});

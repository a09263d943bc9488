/** Every change of a person is one event with the person as they are then, and never with a password. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import {
  eventually,
  otherAccount,
  person,
  startTestApp,
  type OtherAccount,
  type TestApp,
} from "../../../tests/harness.ts";
import { modelChanged } from "../../../runtime/events/models.ts";
import { definePlugin, onEvent } from "../../../runtime/plugin/plugin.ts";
import { plugins } from "../../index.ts";

interface SeenEvent {
  readonly accountId: number;
  readonly kind: string;
  readonly id: number;
  readonly data: Readonly<Record<string, unknown>>;
}

let app: TestApp;
let other: OtherAccount;
const seen: SeenEvent[] = [];
const reader = definePlugin({
  name: "reader",
  setup: () => ({
    handlers: [
      onEvent(modelChanged, "reader", async ({ sourceType, accountId, kind, id, data }) => {
        if (sourceType === "Account::User") seen.push({ accountId, kind, id: Number(id), data });
      }),
    ],
  }),
});

beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, reader] });
  other = await otherAccount(app);
});
afterAll(() => app.stop());

let one = { id: 0, token: "", login: "" };
beforeEach(async () => {
  one = await person(app, { password: "the old password" });
  await eventually(() => seen.some(({ id }) => id === one.id), "the event of the new person");
  seen.length = 0;
});

/** The events until a further person is made: jobs of events begin in the order in which they were written. */
async function eventsOf(run: () => Promise<unknown>): Promise<SeenEvent[]> {
  await run();
  const last = await person(app);
  await eventually(() => seen.some(({ id }) => id === last.id), "the event of the last person");
  await eventually(
    async () => (await app.sql`select from jobs where name like '%reader'`).length === 0,
    "no more events",
  );
  return seen.filter(({ id }) => id !== last.id);
}

const path = () => `/account/users/${one.id}.json`;
const changes: [what: string, run: () => Promise<{ status: number }>, data: Record<string, unknown>][] = [
  ["a new name", () => app.patch(path(), { user: { name: "Zoë" } }), { name: "Zoë" }],
  ["a new role", () => app.patch(path(), { user: { role: "manager" } }), { role: "manager" }],
  ["a new login", () => app.patch(path(), { user: { login: `new-${one.id}` } }), { name: expect.any(String) }],
  ["privileges, each once", () => app.patch(path(), { user: { privileges: ["dbs", "dbs"] } }), { privileges: ["dbs"] }],
  ["being switched off", () => app.patch(path(), { user: { active: false } }), { active: false }],
  ["a new password", () => app.patch(path(), { user: { password: "another password" } }), { active: true }],
  ["an empty patch", () => app.patch(path(), { user: {} }), { role: "user" }],
  ["one's own name", () => app.patch("/account/me.json", { user: { name: "I" } }, { token: one.token }), { name: "I" }],
  [
    "one's own password",
    () =>
      app.patch(
        "/account/me.json",
        { user: { password: "another password", current_password: "the old password" } },
        { token: one.token },
      ),
    { role: "user" },
  ],
];

test.each(changes)("%s: one event of the kind update", async (_, run, data) => {
  const events = await eventsOf(async () => expect((await run()).status).toBe(200));
  expect(events).toEqual([{ accountId: 1, kind: "update", id: one.id, data: expect.objectContaining(data) }]);
  const { json } = await app.get(path());
  expect(events[0]?.data).toEqual(json);
  expect(JSON.stringify(events)).not.toContain("argon2");
});

test("a new person: one event of the kind create, in their account", async () => {
  const made = { login: "elsewhere", name: "Else" };
  const events = await eventsOf(() =>
    other.post("/account/users.json", { user: { ...made, password: "a pass phrase" } }),
  );
  expect(events).toEqual([
    { accountId: other.id, kind: "create", id: expect.any(Number), data: expect.objectContaining(made) },
  ]);
  expect(Object.keys(events[0]?.data ?? {}).some((name) => name.includes("password"))).toBe(false);
});

test("a deleted person: one event of the kind destroy, with the person as they were", async () => {
  const { json } = await app.get(path());
  const events = await eventsOf(() => app.delete(path()));
  expect(events).toEqual([{ accountId: 1, kind: "destroy", id: one.id, data: json }]);
});

const refusals: [what: string, run: () => Promise<{ status: number }>, status: number][] = [
  ["a wrong field", () => app.patch(path(), { user: { role: "root" } }), 422],
  ["a taken login", () => app.patch(path(), { user: { login: "admin" } }), 422],
  ["a team that does not exist", () => app.patch(path(), { user: { name: "x", team_ids: [999_999] } }), 422],
  [
    "a wrong current password",
    () =>
      app.patch(
        "/account/me.json",
        { user: { password: "another password", current_password: "no" } },
        { token: one.token },
      ),
    422,
  ],
  [
    "an own address that is none",
    () => app.patch("/account/me.json", { user: { email: "no" } }, { token: one.token }),
    422,
  ],
  ["a change by another account", () => other.patch(path(), { user: { name: "Theirs" } }), 404],
  ["a deletion by another account", () => other.delete(path()), 404],
  ["a change without the privilege", () => app.patch(path(), { user: { name: "Me" } }, { token: one.token }), 403],
  ["a deletion without sign-in", () => app.delete(path(), { token: null }), 401],
  ["a body without its key", () => app.patch(path(), { name: "x" }), 400],
];
test.each(refusals)("%s: no event, and the person stays as they were", async (_, run, status) => {
  const { json } = await app.get(path());
  expect(await eventsOf(async () => expect((await run()).status).toBe(status))).toEqual([]);
  expect((await app.get(path())).json).toEqual(json);
});

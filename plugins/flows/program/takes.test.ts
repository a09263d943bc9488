/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { person, startTestApp, type Answer, type TestApp } from "../../../tests/harness.ts";
import { follower, traces } from "../../../tests/traces.ts";
import { plugins } from "../../index.ts";
import { flows } from "../api.ts";

let app: TestApp;
/** May keep flows, and no databases. */
let token: string;

const read = { type: "db", op: "search", db: "orders", as: "found" };
const calls = (flow: string) => ({ type: "flow", flow });
const harmless = [{ type: "return", value: 1 }];

beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  token = (await person(app, { role: "admin", narrowedTo: ["flows"] })).token;
  expect((await app.post("/core/dbs.json", { db: { name: "Orders", code: "orders" } })).status).toBe(201);
  await made("reads", [read]);
  await made("off", [read], false);
  await made("around", [{ type: "if", condition: true, then: [calls("reads")] }]);
  await made("one", [calls("other")]);
  await made("other", [calls("one")]);
});
afterAll(() => app.stop());

const post = (code: string, program: object[], active = true, by?: string): Promise<Answer> =>
  app.post("/connect/flows.json", { flow: { name: code, code, fields: { program }, active } }, by ? { token: by } : {});

async function made(code: string, program: object[], active = true): Promise<string> {
  const answer = await post(code, program, active);
  expect(answer.status).toBe(201);
  return answer.json.id;
}

/** The request is refused for want of `dbs`, and leaves nothing behind. */
async function expectRefused(send: () => Promise<Answer>, place: string): Promise<void> {
  const before = await traces(app, "flows", "flow_programs");
  const answer = await send();
  expect([answer.status, answer.json.error]).toEqual([403, expect.stringContaining("`dbs`")]);
  expect(answer.json.error).toContain(place);
  expect(await traces(app, "flows", "flow_programs")).toEqual(before);
}

const unallowed: [string, object[], string][] = [
  ["a db step", [read], "`program[0]`"],
  ["one that comes later", [{ type: "wait", seconds: 1 }, read], "`program[1]`"],
  ["one in a branch", [{ type: "if", condition: true, then: harmless, else: [read] }], "`program[0].else[0]`"],
  ["one in an each", [{ type: "each", in: "{{ input.list }}", do: [read] }], "`program[0].do[0]`"],
  ["one in on_error", [{ type: "fail", on_error: [read] }], "`program[0].on_error[0]`"],
  ["a flow that has one", [calls("reads")], '`flow "reads": program[0]`'],
  ["a flow that is switched off", [calls("off")], '`flow "off": program[0]`'],
  ["a flow that calls one that has one", [calls("around")], '`flow "reads": program[0]`'],
  ["one behind flows that call each other", [calls("one"), calls("around")], '`flow "reads": program[0]`'],
];

describe("a flow with a db step takes `dbs` of who saves it", () => {
  test.each(unallowed)("made with %s", async (_, program, place) => {
    await expectRefused(() => post("refused", program, true, token), place);
  });

  test.each(unallowed)("changed to %s", async (what, program, place) => {
    const id = await made(`changed-${what.replaceAll(/\W/g, "-")}`, harmless);
    await expectRefused(
      () => app.patch(`/connect/flows/${id}.json`, { flow: { fields: { program } } }, { token }),
      place,
    );
  });

  test("renamed, moved or switched on as well; anybody with `flows` switches it off or deletes it", async () => {
    const id = await made("kept", [read]);
    const path = `/connect/flows/${id}.json`;
    for (const flow of [{ name: "x" }, { code: "other-code" }, { active: true }, { active: false, name: "x" }])
      await expectRefused(() => app.patch(path, { flow }, { token }), "`program[0]`");
    expect((await app.patch(path, { flow: { active: false } }, { token })).json).toMatchObject({ active: false });
    expect((await app.delete(path, { token })).status).toBe(204);
  });

  test("flows that call each other in a circle, or what is not there yet, are saved", async () => {
    expect((await post("circle", [calls("one"), calls("nowhere")], true, token)).status).toBe(201);
    expect((await post("itself", [calls("itself")], true, token)).status).toBe(201);
  });

  test("with both privileges it is saved, and commands need none", async () => {
    const both = await person(app, { role: "admin", narrowedTo: ["flows", "dbs"] });
    expect((await post("both", [read, calls("around")], true, both.token)).status).toBe(201);
    const { id: accountId } = (await app.get("/account/me.json")).json.account;
    const put = { name: "put", code: "put", fields: { program: [read] } };
    expect((await app.service(flows).putFlow({ accountId, userId: null }, put)).done).toBe("made");
  });
});

/**
 * Who gets to know what of the records of a database with `access`: each way in, made from the table of routes, by each
 * kind of grant. No text of a hidden field or record may come out, and nothing may differ by it. behaviour B.7.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openArchive } from "../plugins/jsondb/bulk/files/zip.ts";
import { followStream } from "./event-stream.ts";
import { connect } from "./fixtures/mcp-client.ts";
import { adminToken, eventually, startTestApp, type TestApp } from "./harness.ts";
import { apart, excused, reads, type Call } from "./records-access/calls.ts";
import {
  canaries,
  hiddenField,
  makeEverything,
  pageToken,
  sees,
  worlds,
  type Canary,
  type Everything,
  type Persona,
  type World,
} from "./records-access/world.ts";
import { attempts, placeFor, type Attempt, type Place } from "./records-access/writes.ts";

let app: TestApp;
let all: Everything;

beforeAll(async () => {
  app = await startTestApp({ env: { OUTBOUND_ALLOW: "127.0.0.1" } });
  all = await makeEverything(app);
});
afterAll(() => app.stop());

interface Said {
  readonly status: number;
  /** Headers and body. */
  readonly text: string;
}

const quiet = new Set(["date", "x-request-id", "content-length", "server-timing"]);

async function ask(path: string, token = adminToken): Promise<Said> {
  const answer = await fetch(`${app.origin}${path}`, { headers: { authorization: `Bearer ${token}` } });
  const headers = [...answer.headers].filter(([name]) => !quiet.has(name)).map((header) => header.join(": "));
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const isBook = answer.headers.get("content-type")?.includes("spreadsheetml") ?? false;
  const body = isBook ? await sheetOf(bytes) : new TextDecoder().decode(bytes);
  return { status: answer.status, text: [...headers, body].join("\n") };
}

async function sheetOf(bytes: Uint8Array): Promise<string> {
  const archive = openArchive(bytes, 10_000_000);
  const names = ["xl/sharedStrings.xml", "xl/worksheets/sheet1.xml"].filter((name) => archive.has(name));
  const decoder = new TextDecoder();
  let text = "";
  for (const name of names) for await (const piece of archive.read(name)) text += decoder.decode(piece);
  return text;
}

const everything: readonly Canary[] = ["open", "closed", "hiddenOpen", "hiddenClosed"];
const carried = ({ text }: Pick<Said, "text">) => everything.filter((name) => text.includes(canaries[name]));

/** What somebody must find in an answer in which an administrator finds this. */
function expected(who: Persona, call: Pick<Call, "byHidden">, whole: readonly Canary[]): readonly Canary[] {
  if (call.byHidden && who.hides) return [];
  return whole.filter((name) => sees(who, name));
}

/** An answer without what is another in each world. */
function common({ status, text }: Said): string {
  const plain = text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<id>")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g, "<time>")
    .replaceAll(/<v>\d{5}\.\d+<\/v>/g, "<time>")
    .replaceAll(/(x-next-cursor|etag|x-task-id): \S+/g, "$1")
    .replaceAll(/\b(deals|firms|notes)_\d/g, "$1");
  return `${status} ${plain}`;
}

/** The world in which differs only what this person must not notice. */
function otherFor(who: Persona): World | undefined {
  const [rows, field] = [!sees(who, "closed"), !sees(who, "hiddenOpen")];
  const at = worlds.findIndex((one) => one.rows === rows && one.field === field);
  return at > 0 && !who.name.startsWith("token") ? all.worlds[at] : undefined;
}

async function faultsOf(who: Persona, call: Call, world: World, token: string): Promise<string[]> {
  const path = call.path(world, all);
  const place = `${who.name} ${path}`;
  const [given, whole] = [await ask(path, token), carried(await wholeAnswer(path))];
  const [found, wanted] = [carried(given), expected(who, call, whole)];
  const faults: string[] = [];
  const leaked = found.filter((name) => !sees(who, name));
  if (leaked.length > 0) faults.push(`${place}: ${leaked.join(", ")}`);
  if (!call.whole && wanted.join() !== found.join())
    faults.push(`${place}: ${found.join()} instead of ${wanted.join()}`);
  if (!call.bare && whole.length === 0) faults.push(`${place}: shows an administrator nothing`);
  const isNamed = who.hides && path.includes("deals") && !path.includes(hiddenField);
  if (isNamed && given.text.includes(hiddenField)) faults.push(`${place}: names ${hiddenField}`);
  const other = otherFor(who);
  if (!other || call.path(other, all) === path) return faults;
  const [one, two] = [common(given), common(await ask(call.path(other, all), token))];
  if (one !== two) faults.push(`${place}: tells the worlds apart\n${one}\n${two}`);
  return faults;
}

/** An administrator's answers: one of each. */
const wholeAnswers = new Map<string, Promise<Said>>();
function wholeAnswer(path: string): Promise<Said> {
  const known = wholeAnswers.get(path) ?? ask(path);
  wholeAnswers.set(path, known);
  return known;
}

/** Who may change more sees no more. */
const readers = () =>
  all.people.filter(({ name, level }) => name === "edit-open-hides" || !["add", "edit"].includes(level));

const routes = () => app.app.routes.map(({ method, path, spec }) => ({ name: `${method} ${path}`, spec }));
const isExcused = (name: string) =>
  Object.keys(excused).some((start) => name.startsWith(start)) || apart.some(([start]) => start.test(name));

describe("each way in", () => {
  test("is called, or it is said why not", () => {
    const called = new Set<string>([...Object.keys(reads), ...attempts.map(({ route }) => route)]);
    const names = routes().map(({ name }) => name);
    expect(names.filter((name) => !called.has(name) && !isExcused(name))).toEqual([]);
    expect([...called].filter((name) => !names.includes(name))).toEqual([]);
    const idle = Object.keys(excused).filter((start) => !names.some((name) => name.startsWith(start)));
    expect([idle, apart.filter(([start]) => !names.some((name) => start.test(name)))]).toEqual([[], []]);
  });

  test.each(Object.entries(reads))(
    "%s shows each person what their grant shows, and nothing else",
    async (_, calls) => {
      const faults: string[] = [];
      const [world] = all.worlds;
      for (const who of readers())
        for (const call of calls) if (world) faults.push(...(await faultsOf(who, call, world, who.token)));
      expect(faults).toEqual([]);
    },
  );

  test("shows pages of apps what their viewer sees", async () => {
    const open = new Set(routes().flatMap(({ name, spec }) => (spec.apps ? [name] : [])));
    const faults: string[] = [];
    const [world] = all.worlds;
    for (const who of readers().filter(({ name }) => !name.startsWith("token"))) {
      const token = await pageToken(app, all.app, who);
      for (const [name, calls] of Object.entries(reads))
        if (open.has(name) && world)
          for (const call of calls.slice(0, 12)) faults.push(...(await faultsOf(who, call, world, token)));
    }
    expect(faults).toEqual([]);
  });

  test("shows agents what their person sees", async () => {
    const tools: [string, object, Partial<Call>][] = [
      ["search_records", { db: "deals_0", sort: "title", count: true }, {}],
      ["search_records", { db: "deals_0", filter: { hush: "secret*" } }, { byHidden: true }],
      ["search_records", { db: "deals_0", q: "secret*" }, { byHidden: true }],
      ["aggregate", { db: "deals_0", group_by: ["title"] }, {}],
      ["aggregate", { db: "deals_0", group_by: ["hush"] }, { byHidden: true }],
      ["list", { resource: "records", in: "deals_0" }, {}],
      ["get", { resource: "records", in: "deals_0", id: all.worlds[0]?.ids.closed }, {}],
      ["get", { resource: "records", in: "deals_0", id: all.worlds[0]?.ids.open }, {}],
      ["get", { resource: "dbs", id: "deals_0" }, { bare: true }],
      ["guide", { topic: "deals_0" }, { bare: true }],
    ];
    const admin = await connect(app.origin, adminToken);
    const faults: string[] = [];
    for (const who of readers()) {
      const agent = await connect(app.origin, who.token);
      for (const [tool, args, call] of tools) {
        const whole = carried(await admin.call(tool, { ...args }));
        const [found, wanted] = [carried(await agent.call(tool, { ...args })), expected(who, call, whole)];
        if (found.join() !== wanted.join() || (whole.length === 0 && !call.bare))
          faults.push(`${who.name} ${tool} ${JSON.stringify(args)}: ${found.join()} instead of ${wanted.join()}`);
      }
      await agent.client.close();
    }
    await admin.client.close();
    expect(faults).toEqual([]);
  });

  test("tells followers of what they see, and ends with their grant", async () => {
    const [world] = all.worlds;
    if (!world) throw new Error("there is no world");
    const { deals, ids } = world;
    const followers = await Promise.all(
      all.people.map(async (who) => ({
        who,
        stream: await followStream(`${app.origin}/core/dbs/${deals}/events`, { token: who.token }),
      })),
    );
    const note = (id: string) => app.patch(`/core/dbs/${deals}/records/${id}`, { record: { data: { amount: 6 } } });
    for (const id of [ids.closed, ids.open]) expect((await note(id)).status).toBe(200);
    const { access } = (await app.get(`/core/dbs/${deals}`)).json;
    await app.patch(`/core/dbs/${deals}`, { db: { access: [] } });
    await note(ids.open);
    const left = followers.filter(({ stream, who }) => stream.status === 200 && !who.name.startsWith("token"));
    await eventually(() => left.every(({ stream }) => stream.ended()));
    for (const { who, stream } of followers) {
      if (who.name.startsWith("token")) continue;
      expect([who.name, carried({ text: stream.text() }).join()]).toEqual([
        who.name,
        expected(who, {}, everything).join(),
      ]);
      expect([who.name, stream.text().includes(hiddenField)]).toEqual([who.name, sees(who, "hiddenOpen")]);
    }
    await app.patch(`/core/dbs/${deals}`, { db: { access } });
    await Promise.all(followers.map(({ stream }) => stream.close()));
  });
});

describe("what is written", () => {
  const send = ({ route, body, raw = {} }: Attempt, place: Place, path: string, token: string) =>
    app.request(route.split(" ")[0] ?? "", path, typeof body === "function" ? body(place) : body, { ...raw, token });
  const stateOf = async ({ db }: Place) =>
    (await Promise.all(["", "/records", "/trash", "/views"].map((rest) => app.get(`/core/dbs/${db}${rest}`)))).map(
      ({ text }) => text,
    );

  test("is what the person's grant lets be written, and nothing else", async () => {
    const faults: string[] = [];
    for (const [at, who] of all.people.entries()) {
      const { place, token } = await placeFor(app, who, at);
      const before = await stateOf(place);
      const isRefused = ({ status }: Attempt) => status(who) >= 400;
      for (const attempt of attempts.filter(isRefused)) faults.push(...(await faultsIn(attempt, who, place, token)));
      if (JSON.stringify(await stateOf(place)) !== JSON.stringify(before))
        faults.push(`${who.name}: was refused, and changed it`);
      for (const attempt of attempts)
        if (!isRefused(attempt)) faults.push(...(await faultsIn(attempt, who, place, token)));
    }
    expect(faults).toEqual([]);
  });

  async function faultsIn(attempt: Attempt, who: Persona, place: Place, token: string): Promise<string[]> {
    const path = attempt.path(place);
    const answer = await send(attempt, place, path, token);
    const told = `${who.name} ${attempt.route} ${JSON.stringify(attempt.body ?? null)}`;
    const faults: string[] = [];
    if (answer.status !== attempt.status(who))
      faults.push(`${told}: ${answer.status} instead of ${attempt.status(who)} ${answer.text}`);
    const leaked = carried(answer).filter((name) => !sees(who, name));
    if (
      leaked.length > 0 ||
      (who.hides && !JSON.stringify(attempt).includes(hiddenField) && answer.text.includes(hiddenField))
    )
      faults.push(`${told}: ${answer.text}`);
    const id = attempt.of?.(place);
    if (id === undefined || answer.status !== 404) return faults;
    const none = await send(attempt, place, path.replace(id, crypto.randomUUID()), token);
    if (none.text !== answer.text || none.status !== 404)
      faults.push(`${told}: is not as if there were none: ${answer.text}`);
    return faults;
  }
});

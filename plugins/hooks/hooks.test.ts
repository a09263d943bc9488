import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually, otherAccount, person, startTestApp, type TestApp } from "../../tests/harness.ts";
import { sampleOf } from "./studio/sending.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  const program = [{ type: "return", value: "{{ input }}" }];
  for (const code of ["orders", "off"]) {
    const flow = { name: code, code, fields: { program }, active: code !== "off" };
    expect((await app.post("/connect/flows.json", { flow })).status).toBe(201);
  }
});
afterAll(() => app.stop());

const make = async (fields: object = {}) => {
  const hook = { name: "Payments", flow_code: "orders", scheme: "token", secret: "a token", ...fields };
  const answer = await app.post("/connect/hooks.json", { hook });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return { ...answer.json, path: new URL(answer.json.url).pathname, at: `/connect/hooks/${answer.json.id}` };
};
type Made = Awaited<ReturnType<typeof make>>;

const send = (path: string, body: string, headers: Record<string, string> = {}, query = "") =>
  fetch(`${app.origin}${path}${query}`, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", authorization: "Bearer a token", ...headers },
  });
const sent = async (hook: Made, body: string, headers: Record<string, string> = {}, query = "") => {
  const answer = await send(hook.path, body, headers, query);
  expect([answer.status, answer.statusText]).toEqual([200, "OK"]);
  return answer.json();
};
const arrivals = async (hook: Made, query = "") => (await app.get(`${hook.at}/arrivals.json${query}`)).json;
/** What each flow process of the hook was given, once nothing waits. */
const inputs = async (hook: Made) => {
  await eventually(async () => (await arrivals(hook, "?status=waiting")).length === 0);
  const processes = (await app.get(`/connect/flow_processes.json?started_by=hook:${hook.id}`)).json;
  return processes.map(({ input }: { input: object }) => input).toReversed();
};

test("a message starts the flow, with its headers, query and body", async () => {
  const hook = await make();
  const { id } = await sent(hook, '{"order":12345678901234567890}', { "x-more": "yes", cookie: "a=b" }, "?shop=7");
  const [input] = await inputs(hook);
  expect(input).toMatchObject({
    kind: "hook",
    hook_id: hook.id,
    id,
    message_id: null,
    query: { shop: "7" },
    headers: { "x-more": "yes", "content-type": "application/json" },
  });
  expect(Object.keys(input.headers)).not.toContain("authorization");
  expect(Object.keys(input.headers)).not.toContain("cookie");
  const [arrival] = await arrivals(hook);
  expect(arrival).toMatchObject({ id, status: "started", bytes: 30, repeats: 0, error: null });
  const whole = (await app.get(`${hook.at}/arrivals/${id}.json`)).json;
  expect(whole).toMatchObject({ body: '{"order":12345678901234567890}', query: { shop: "7" } });
  const process = await app.get(`/connect/flow_processes/${arrival.flow_process_id}.json`);
  expect(process.text).toContain("12345678901234567890");
});

test("a form is its fields, and other types are text", async () => {
  const hook = await make();
  await sent(hook, "a=1&payload=%7B%22b%22%3A2%7D", { "content-type": "application/x-www-form-urlencoded" });
  await sent(hook, "just text", { "content-type": "text/plain" });
  await sent(hook, "", {});
  const bodies = (await inputs(hook)).map(({ body }: { body: unknown }) => body);
  expect(bodies).toEqual([{ a: "1", payload: { b: 2 } }, "just text", null]);
});

test("a message whose id is known starts nothing again", async () => {
  const hook = await make({ scheme: "token", id_header: "X-Id" });
  const all = await Promise.all(Array.from({ length: 20 }, (_, n) => sent(hook, "{}", { "x-id": `m${n % 2}` })));
  expect(new Set(all.map(({ id }) => id)).size).toBe(2);
  expect(all.filter(({ repeated }) => repeated)).toHaveLength(18);
  expect(await inputs(hook)).toHaveLength(2);
  expect((await arrivals(hook)).map(({ repeats }: { repeats: number }) => repeats)).toEqual([9, 9]);
});

test("what cannot be read is refused, and stands in the log", async () => {
  const hook = await make({ max_bytes: 1000 });
  const status = async (...given: Parameters<typeof send>) => (await send(...given)).status;
  expect(await status(hook.path, "{}", { authorization: "Bearer another" })).toBe(401);
  expect(await status(hook.path, "{")).toBe(400);
  expect(await status(hook.path, '{"a":"\\u0000"}')).toBe(422);
  expect(await status(hook.path, "a\0b", { "content-type": "text/plain" })).toBe(400);
  expect(await status(hook.path, " ".repeat(1001))).toBe(413);
  expect(await status(hook.path, "{}", { "content-encoding": "gzip" })).toBe(415);
  expect(await status("/hooks/aaaaaaaaaaaaaaaaaaaa", "{}")).toBe(404);
  expect(await inputs(hook)).toEqual([]);
  const refused = await arrivals(hook, "?status=refused");
  expect(refused.map(({ error }: { error: string }) => error)).toEqual([
    "the body holds a NUL character",
    expect.stringContaining("has a character that cannot be stored"),
    "the body is not valid JSON",
    "the token is another one",
  ]);
  const replay = await app.post(`${hook.at}/arrivals/${refused[0].id}/replay.json`);
  expect([replay.status, replay.json]).toEqual([422, { base: [expect.stringContaining("was not kept")] }]);
});

test("a secret changes without loss: the old one counts for an hour, and what was refused is proved anew", async () => {
  const hook = await make({ scheme: "github", secret: "old" });
  const signed = (secret: string, body: string, id: string) => ({
    "x-hub-signature-256": `sha256=${new Bun.CryptoHasher("sha256", secret).update(body).digest("hex")}`,
    "x-github-delivery": id,
  });
  expect((await send(hook.path, '{"n":1}', signed("new", '{"n":1}', "1"))).status).toBe(401);
  expect((await send(hook.path, '{"n":9}', signed("never", '{"n":9}', "9"))).status).toBe(401);
  const [wrong, early] = await arrivals(hook, "?status=refused");
  expect((await app.post(`${hook.at}/arrivals/${early.id}/replay.json`)).status).toBe(422);
  expect((await app.patch(`${hook.at}.json`, { hook: { secret: "new" } })).status).toBe(200);
  await sent(hook, '{"n":2}', signed("old", '{"n":2}', "2"));
  await sent(hook, '{"n":3}', signed("new", '{"n":3}', "3"));
  expect((await app.post(`${hook.at}/arrivals/${early.id}/replay.json`)).status).toBe(201);
  expect((await app.post(`${hook.at}/arrivals/${wrong.id}/replay.json`)).status).toBe(422);
  expect((await inputs(hook)).map(({ body }: { body: { n: number } }) => body.n)).toEqual([2, 3, 1]);
  // Once replayed, the sender's own repetition is known.
  expect(await sent(hook, '{"n":1}', signed("new", '{"n":1}', "1"))).toMatchObject({ repeated: true });
  await app.sql`update hooks set previous_secret_until = now() - interval '1 second' where id = ${hook.id}`;
  await app.patch(`${hook.at}.json`, { hook: { name: "Later" } });
  expect((await send(hook.path, "{}", signed("old", "{}", "4"))).status).toBe(401);
});

test("a hook that is off, or whose flow is, starts nothing; a message of it can be replayed", async () => {
  const hook = await make({ flow_code: "off" });
  const { id } = await sent(hook, '{"n":1}');
  const [failed] = await eventually(async () => {
    const rows = await arrivals(hook, "?status=failed");
    return rows.length > 0 ? rows : undefined;
  });
  expect(failed.error).toBe('no active flow has the code "off"');
  await app.patch(`${hook.at}.json`, { hook: { flow_code: "orders" } });
  const headers = { "idempotency-key": crypto.randomUUID() };
  const replay = await app.post(`${hook.at}/arrivals/${id}/replay.json`, undefined, { headers });
  expect((await app.post(`${hook.at}/arrivals/${id}/replay.json`, undefined, { headers })).json).toEqual(replay.json);
  expect([replay.status, replay.json]).toMatchObject([201, { replay_of: id, status: "waiting" }]);
  expect(await inputs(hook)).toMatchObject([{ id: replay.json.id, body: { n: 1 } }]);
  await app.patch(`${hook.at}.json`, { hook: { active: false } });
  expect((await send(hook.path, "{}")).status).toBe(404);
});

test("a limit a minute is kept", async () => {
  const hook = await make({ rate_limit: 2 });
  await sent(hook, "{}");
  await sent(hook, "{}");
  const third = await send(hook.path, "{}");
  expect([third.status, Number(third.headers.get("retry-after")) > 0]).toEqual([429, true]);
  expect(await inputs(hook)).toHaveLength(2);
});

test("Slack's and Meta's challenges are answered, and start nothing", async () => {
  const slack = await make({ scheme: "slack", secret: "a secret" });
  const body = JSON.stringify({ type: "url_verification", challenge: "3eZbrw1aB" });
  const at = String(Math.floor(Date.now() / 1000));
  const signature = new Bun.CryptoHasher("sha256", "a secret").update(`v0:${at}:${body}`).digest("hex");
  const headers = { "x-slack-request-timestamp": at, "x-slack-signature": `v0=${signature}` };
  const answer = await send(slack.path, body, headers);
  expect([answer.status, await answer.text()]).toEqual([200, "3eZbrw1aB"]);
  expect((await send(slack.path, body, { ...headers, "x-slack-signature": "v0=00" })).status).toBe(401);
  expect(await inputs(slack)).toEqual([]);

  const meta = await make({ scheme: "hmac", header: "x-hub-signature-256", verify_token: "mine" });
  const ask = (token: string) =>
    fetch(`${app.origin}${meta.path}?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=115820`);
  expect([(await ask("mine")).status, await (await ask("mine")).text()]).toEqual([200, "115820"]);
  expect((await ask("other")).status).toBe(404);
});

describe("who may what", () => {
  test("mistakes name the field", async () => {
    const mistakes: [object, string][] = [
      [{ secret: null }, "secret"],
      [{ scheme: "none", secret: "x" }, "secret"],
      [{ scheme: "stripe", header: "x-a" }, "header"],
      [{ scheme: "stripe", id_header: "x-a" }, "id_header"],
      [{ header: "a b" }, "header"],
      [{ flow_code: "nobody" }, "flow_code"],
      [{ scheme: "paypal" }, "scheme"],
      [{ max_bytes: 5_000_001 }, "max_bytes"],
      [{ rate_limit: 0 }, "rate_limit"],
    ];
    for (const [fields, name] of mistakes) {
      const hook = { name: "x", flow_code: "orders", scheme: "token", secret: "a token", ...fields };
      const answer = await app.post("/connect/hooks.json", { hook });
      expect([fields, answer.status, Object.keys(answer.json)]).toEqual([fields, 422, [name]]);
    }
    const hook = await make();
    expect((await app.get(`${hook.at}/arrivals.json?status=lost`)).json).toEqual({ status: [expect.any(String)] });
  });

  test("the secret is never shown, and `flows` is needed", async () => {
    const hook = await make({ secret: "a long secret of the sender", verify_token: "a word" });
    const shown = await app.get(`${hook.at}.json`);
    expect(shown.json.secret_info).toBe("…nder");
    expect(shown.text).not.toContain("a long secret");
    const member = await person(app, { role: "user" });
    expect((await app.get("/connect/hooks.json", { token: member.token })).status).toBe(403);
    expect((await app.get(`${hook.at}/arrivals.json`, { token: member.token })).status).toBe(403);
  });

  test("another account sees neither the hook nor its arrivals, and has no address of it", async () => {
    const hook = await make();
    const { id } = await sent(hook, "{}");
    const other = await otherAccount(app);
    for (const path of [`${hook.at}.json`, `${hook.at}/arrivals.json`, `${hook.at}/arrivals/${id}.json`])
      expect((await other.get(path)).status).toBe(404);
    expect((await other.post(`${hook.at}/arrivals/${id}/replay.json`)).status).toBe(404);
  });

  test("deleting a hook forgets what arrived, and used_by tells of it", async () => {
    const hook = await make();
    await sent(hook, "{}");
    await inputs(hook);
    const used = (await app.get("/connect/flows/orders/used_by.json")).json;
    expect(used).toContainEqual({ kind: "hook", id: hook.id, name: "Payments", path: `${hook.at}.json` });
    expect((await app.delete(`${hook.at}.json`)).status).toBe(204);
    expect((await send(hook.path, "{}")).status).toBe(404);
    expect(await app.sql`select from hook_arrivals where hook_id = ${hook.id}`).toHaveLength(0);
  });
});

const whsec = `whsec_${Buffer.from("twenty-four bytes \0\n\xff of", "latin1").toString("base64")}`;
test.each([
  { scheme: "standard", secret: whsec },
  { scheme: "github", secret: "g" },
  { scheme: "hmac", secret: "s" },
  { scheme: "hmac", secret: "s", algorithm: "sha512", encoding: "base64", header: "X-Sign", id_header: "X-Id" },
  { scheme: "token", secret: "s" },
  { scheme: "token", secret: "s", header: "X-Token" },
  { scheme: "none", secret: undefined },
])("the sample for the shell that the Studio shows is accepted: %j", async (fields) => {
  const hook = await make(fields);
  const sample = sampleOf(hook, fields.secret ?? "") ?? "";
  const shell = Bun.spawn(["sh", "-c", sample.replace(new URL(hook.url).origin, app.origin)], { stderr: "pipe" });
  expect(JSON.parse(await new Response(shell.stdout).text())).toEqual({ id: expect.any(String) });
  expect(await inputs(hook)).toMatchObject([{ body: { order: 7 } }]);
});

test("what comes while it is off is kept for whoever keeps it, and is replayed when it is on", async () => {
  const hook = await make({ active: false });
  expect((await send(hook.path, '{"order":1}')).status).toBe(404);
  expect((await send(hook.path, '{"order":2}', { authorization: "Bearer another" })).status).toBe(404);
  const [kept, ...others] = await arrivals(hook);
  expect([kept, others]).toEqual([
    expect.objectContaining({ status: "refused", error: "the hook was switched off" }),
    [],
  ]);
  await app.patch(`${hook.at}.json`, { hook: { active: true } });
  expect((await app.post(`${hook.at}/arrivals/${kept.id}/replay.json`)).status).toBe(201);
  expect(await inputs(hook)).toMatchObject([{ body: { order: 1 } }]);
});

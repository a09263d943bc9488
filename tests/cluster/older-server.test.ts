/**
 * The last version serves on one database with this one, as for the minutes of an upgrade (docs/scaling.md): it goes on
 * while this one migrates, each sees what the other has acknowledged, and all that the API does is done on both by turns.
 * `bun scripts/try-last-release.ts COMMIT` tries another version.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { clientOf, type Client } from "../../runtime/operations/authors/test-client.ts";
import { followStream } from "../event-stream.ts";
import { adminToken, createDatabase, databaseSettings, eventually, secretKey } from "../harness.ts";
import { checkOut, lastVersion, whyNot, type OlderTree } from "../older-tree.ts";
import { startReceiver, type Receiver } from "../receiver.ts";
import {
  examplePassword,
  isAsExpected,
  isForAnyServer,
  nameOf,
  operationsOf,
  runExamples,
  type Operation,
  type Ran,
} from "../route-examples.ts";
import { cleanUp, folderWith, fromSource, run, startServer, type ServerProcess } from "../server-process.ts";

const timeoutMs = 180_000;
const commit = lastVersion();
const reason = whyNot(commit);
if (reason) console.log(`the last version is not tried beside this one: ${reason}`);

describe.skipIf(reason !== undefined)("the last version beside this one", () => {
  let tree: OlderTree;
  let receiver: Receiver;
  let env: Record<string, string>;
  let olderServer: ServerProcess;
  let newerServer: ServerProcess;
  let older: Client;
  let newer: Client;
  const program = () => [process.execPath, join(tree.folder, "plugins/main.ts")];
  /** By the id of the record. */
  const acknowledged = new Map<string, number>();
  /** What neither server should have answered. */
  const failed: unknown[] = [];
  let written = 0;

  beforeAll(async () => {
    tree = checkOut(commit);
    receiver = startReceiver();
    const own = { CORE_ADMIN_PASSWORD: examplePassword, CORE_ADMIN_TOKEN: adminToken, SECRET_KEY: secretKey };
    const more = {
      OUTBOUND_ALLOW: "127.0.0.1",
      LOG_LEVEL: "error",
      DATA_DIR: folderWith(),
      SECURITY_CONTACT: "mailto:a@b.test",
    };
    env = { ...own, ...more, ...(await databaseSettings(await createDatabase())) };
    olderServer = await startServer(program(), { cwd: folderWith(), env });
    older = clientOf(olderServer.request);
  }, timeoutMs);
  afterAll(async () => {
    await cleanUp();
    await receiver?.stop();
    tree?.remove();
  });

  async function write(client: Client): Promise<void> {
    const n = ++written;
    const { status, json, text } = await client.post("/core/dbs/orders/records.json", { record: { data: { n } } });
    if (status === 201) acknowledged.set(json.id, n);
    else failed.push([status, text]);
  }

  /** Until `over` resolves, and a few times more. */
  async function writeAndRead(client: Client, over: Promise<unknown>): Promise<void> {
    let left = 20;
    void over.finally(() => (left = Math.min(left, 19)));
    while (left === 20 || left-- > 0) {
      await write(client);
      for (const path of ["/core/dbs/orders/records.json", "/account/webhooks.json", "/connect/flow_processes.json"]) {
        const { status, text } = await client.get(path);
        if (status !== 200) failed.push([path, status, text]);
      }
    }
  }

  test(
    "it serves on while this one migrates the database, and each delivery and flow of both is done once",
    async () => {
      await make(older, "/core/dbs.json", { db: { name: "Orders", code: "orders" } });
      const steps = [{ type: "mutation", set: { n: "{{ data.data.n }}" } }];
      await make(older, "/connect/flows.json", { flow: { name: "Ship", code: "ship", fields: { program: steps } } });
      const common = { source_type: "Core::Record", kind: "create", filter: { db_code: "orders" } };
      for (const target of [{ url: `${receiver.url}/orders` }, { target_kind: "flow", target_code: "ship" }])
        await make(older, "/account/webhooks.json", { webhook: { ...common, ...target } });

      const starting = startServer(fromSource, { cwd: folderWith(), env: { ...env, LOG_LEVEL: "info" } });
      await Promise.all([1, 2, 3, 4].map(() => writeAndRead(older, starting)));
      newerServer = await starting;
      newer = clientOf(newerServer.request);
      await Promise.all([older, newer, older, newer].map((one) => writeAndRead(one, Promise.resolve())));
      if (failed.length) console.log(newerServer.stdout() + newerServer.stderr());
      expect(failed).toEqual([]);
      const ids = [...acknowledged.keys()].toSorted();
      for (const one of [older, newer])
        for (const [id, n] of acknowledged) {
          const { status, json } = await one.get(`/core/dbs/orders/records/${id}.json`);
          expect([status, json.data]).toEqual([200, { n }]);
        }
      await eventually(() => receiver.at("/orders").length >= ids.length, "all deliveries");
      expect(
        receiver
          .at("/orders")
          .map(({ body }) => String(JSON.parse(body).id))
          .toSorted(),
      ).toEqual(ids);
      for (const one of [older, newer])
        await eventually(async () => {
          const { json } = await one.get("/connect/flow_processes.json?status=finished&limit=1&count=true");
          return json.length > 0 && (await finished(one)) === ids.length;
        }, "all flows");
    },
    timeoutMs,
  );

  test(
    "a change at one is seen at the other with the next request",
    async () => {
      for (const [here, there, origin] of [
        [older, newer, newerServer.origin],
        [newer, older, olderServer.origin],
      ] as const) {
        const code = here === older ? "of-older" : "of-newer";
        const follower = await followStream(`${origin}/core/dbs/orders/events`);
        await write(here);
        await eventually(() => follower.events.length > 0, "the event");
        await follower.close();

        const { id } = await make(here, "/core/prompts.json", {
          prompt: { name: code, code, content: "one", kind: "chat" },
        });
        expect((await there.get(`/core/prompt/${code}.md`)).text).toContain("one");
        expect((await there.patch(`/core/prompts/${id}.json`, { prompt: { content: "two" } })).status).toBe(200);
        expect((await here.get(`/core/prompt/${code}.md`)).text).toContain("two");

        const token = await make(here, "/account/api_tokens.json", { api_token: { name: code } });
        const me = () => there.get("/account/me.json", { token: token.token });
        expect((await me()).status).toBe(200);
        expect((await here.delete(`/account/api_tokens/${token.id}.json`)).status).toBe(204);
        expect((await me()).status).toBe(401);

        const headers = { "idempotency-key": code };
        const post = (one: Client) => one.post("/core/dbs/orders/records.json", { record: { data: {} } }, { headers });
        expect((await post(here)).json.id).toBe((await post(there)).json.id);
      }
      expect(failed).toEqual([]);
    },
    timeoutMs,
  );

  test(
    "the examples of all routes succeed, made and changed at one or the other, and read at both",
    async () => {
      const [of, ofOlder] = await Promise.all([newer, older].map(async (one) => (await one.get("/docs")).text));
      const known = new Map(operationsOf(ofOlder ?? "").map((one) => [nameOf(one), one]));
      const both = operationsOf(of ?? "")
        .filter(isForAnyServer)
        .flatMap((one, at): Operation[] => {
          // What this version does otherwise is no matter of the last one.
          const there = known.get(nameOf(one));
          if (there?.curl.replaceAll(olderServer.origin, newerServer.origin) !== one.curl) return [one];
          // Libraries are named by their content: this one serves its own to pages of both.
          if (one.path.startsWith("/_rt/")) return [one];
          if (one.method === "GET") return [there, one];
          const byTurns = one.method === "PATCH" || !one.path.includes("{");
          return [byTurns && at % 2 ? one : there];
        });
      const ran = await runExamples(both, {
        client: newer,
        receiver,
        folder: folderWith(),
      });
      const wrong = ran.filter((one) => !isAsExpected(one) || one.status.startsWith("5"));
      expect(wrong.map(({ status, body, curl }) => [status, body, curl])).toEqual([]);
      expect(ran.filter(({ curl }) => curl.includes(olderServer.origin)).length).toBeGreaterThan(100);
      for (const one of ran.filter(isList)) {
        const there = ran.find((other) => other !== one && isList(other) && nameOf(other) === nameOf(one));
        if (there) expect([nameOf(one), idsOf(there)]).toEqual([nameOf(one), idsOf(one)]);
      }
    },
    timeoutMs,
  );

  test(
    "it ends while this one serves on, and is told why it does not start again",
    async () => {
      const writing = writeAndRead(newer, olderServer.stop());
      expect(await olderServer.exited).toBe(0);
      await writing;
      expect(failed).toEqual([]);
      const { code, stderr } = await run(program(), { cwd: folderWith(), env });
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/has migration \S+, which this version does not know: start the newer version/),
      ]);
      expect(await newerServer.stop()).toBe(0);
    },
    timeoutMs,
  );
});

/** Of what only requests change. */
const isList = ({ method, path, body }: Ran) =>
  method === "GET" &&
  path.endsWith("s.json") &&
  body.startsWith('[{"id"') &&
  !/sessions|deliveries|processes/.test(path);

const idsOf = ({ body }: Ran) => JSON.parse(body).map(({ id }: { id: unknown }) => id);

async function make(client: Client, path: string, body: object) {
  const answer = await client.post(path, body);
  expect([path, answer.status, answer.text]).toEqual([path, 201, expect.any(String)]);
  return answer.json;
}

async function finished(client: Client): Promise<number> {
  let count = 0;
  for (let size = 100; size === 100; count += size)
    size = (await client.get(`/connect/flow_processes.json?status=finished&limit=100&offset=${count}`)).json.length;
  return count;
}

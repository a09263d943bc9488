import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { definePlugin, job, type BaseContext } from "../../runtime/sdk.ts";
import { eventually, startTestApp, type TestApp } from "../../tests/harness.ts";
import { certificateId } from "./acme.ts";
import { freePorts, pebbleProgram, startPebble, type Pebble } from "../../tests/fixtures/pebble.ts";

let enqueue: BaseContext["enqueue"];
const clockwork = definePlugin({
  name: "clockwork",
  setup(ctx) {
    ({ enqueue } = ctx);
    return {};
  },
});
const host = "core.example.com";

/** Debian's pebble gives no advice on renewal (RFC 9773): this directory is pebble's, and names where to find ours. */
function advising(pebble: Pebble, answer: () => Response) {
  const asked: string[] = [];
  const folder = dirname(pebble.caFile);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert: Bun.file(join(folder, "own.pem")), key: Bun.file(join(folder, "own.key")) },
    async fetch({ url }) {
      const { pathname, origin } = new URL(url);
      if (pathname !== "/dir") {
        asked.push(pathname);
        return answer();
      }
      const own = await fetch(pebble.directory, { tls: { rejectUnauthorized: false } });
      return Response.json({ ...(await own.json()), renewalInfo: `${origin}/advice` });
    },
  });
  return { asked, directory: `https://127.0.0.1:${server.port}/dir`, stop: () => server.stop(true) };
}

describe.skipIf(pebbleProgram === null)("a certificate that is there", () => {
  let app: TestApp;
  let pebble: Pebble;
  let authority: ReturnType<typeof advising>;
  let advice: () => Response = () => new Response("", { status: 503 });

  const one = async () => (await app.get(`/core/certificates/${host}.json`)).json;
  const takeAdvice = async () => {
    const before = authority.asked.length;
    await app.sql`update certificates set advice_at = null`;
    await enqueue(job<{ dueAt: string }>("schedule:certificates.advice"), { dueAt: new Date().toISOString() });
    await eventually(() => authority.asked.length > before, "the authority is asked");
    await eventually(async () => (await app.sql`select 1 from jobs where name like '%advice'`).length === 0);
  };
  const window = (from: number, to: number) => () =>
    Response.json({
      suggestedWindow: {
        start: new Date(Date.now() + from).toISOString(),
        end: new Date(Date.now() + to).toISOString(),
      },
    });

  beforeAll(async () => {
    const [httpPort = 0, tlsPort = 0] = await freePorts(2);
    pebble = await startPebble({ httpPort, tlsPort });
    authority = advising(pebble, () => advice());
    const env = {
      HTTPS: "on",
      HTTPS_HOST: "127.0.0.1",
      HTTP_PORT: `${httpPort}`,
      HTTPS_PORT: `${tlsPort}`,
      BASE_URL: `https://${host}`,
      ACME_DIRECTORY: authority.directory,
      OUTBOUND_CA_FILE: pebble.caFile,
    };
    app = await startTestApp({ env, plugin: clockwork });
    await eventually(async () => (await one()).state === "valid", "a certificate");
  });
  afterAll(async () => {
    await app.stop();
    await authority.stop();
    pebble.stop();
  });

  test("is renewed in the window that its authority advises, and when it always was if there is no advice", async () => {
    const usual = (await one()).renew_at;
    await takeAdvice();
    advice = () => Response.json({ suggestedWindow: "soon" });
    await takeAdvice();
    expect((await one()).renew_at).toBe(usual);

    advice = window(3_600_000, 7_200_000);
    await takeAdvice();
    const inHours = (Date.parse((await one()).renew_at) - Date.now()) / 3_600_000;
    expect([inHours > 0.9, inHours < 2.1]).toEqual([true, true]);
    const [row] = await app.sql<{ chain: string }[]>`select chain from certificates where host = ${host}`;
    expect(new Set(authority.asked)).toEqual(new Set([`/advice/${await certificateId(row?.chain ?? "")}`]));
  });

  test("is replaced at once if the window is over, as before its authority revokes it", async () => {
    const { ordered_at: before } = await one();
    advice = window(-7_200_000, -3_600_000);
    await takeAdvice();
    await enqueue(job<{ dueAt: string }>("schedule:certificates.tend"), { dueAt: new Date().toISOString() });
    const after = await eventually(async () => {
      const found = await one();
      return found.ordered_at !== before && found;
    }, "another certificate");
    expect(after).toMatchObject({ state: "valid", last_error: null });
  });

  test("is not ordered a sixth time in a week, whoever asks", async () => {
    await app.sql`
      insert into certificate_orders (host, issued, at) select ${host}, true, now() - interval '6 days' from generate_series(1, 5)`;
    const count = async () => (await app.sql`select count(*) as orders from certificate_orders`)[0]?.["orders"];
    const [orders, { ordered_at: before }] = [await count(), await one()];
    // What was issued a moment ago is not asked for again anyway.
    await app.sql`update certificates set ordered_at = ordered_at - interval '1 hour'`;
    expect((await app.post(`/core/certificates/${host}/order.json`)).status).toBe(202);
    const waiting = await eventually(async () => {
      const found = await one();
      return found.last_error !== null && found;
    }, "it waits");
    expect(waiting.last_error).toContain("so many orders are not allowed");
    expect([waiting.failures, await count()]).toEqual([0, orders]);
    expect(Date.parse(waiting.try_at) - Date.parse(before)).toBeGreaterThan(50 * 60_000);
    expect(Date.parse(waiting.expires_at)).toBeGreaterThan(Date.now());
  });
});

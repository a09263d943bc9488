import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { modelChanged } from "../../../runtime/events/models.ts";
import { certificate } from "../../../tests/fixtures/outbound.ts";
import { definePlugin } from "../../../runtime/plugin/plugin.ts";
import { plugins } from "../../index.ts";

/** Every fault of a receiver is in the log as what it is. */
let app: TestApp;
/** The same with a short time limit, for receivers that take too long. */
let hasty: TestApp;

const changes = new Map<TestApp, (sourceType: string) => Promise<void>>();
async function start(fields: Record<string, string>): Promise<TestApp> {
  let change: (sourceType: string) => Promise<void> = async () => {};
  const probe = definePlugin({
    name: "probe",
    setup(ctx) {
      change = (sourceType) =>
        ctx.emit(modelChanged, { accountId: 1, sourceType, kind: "create", id: 1, data: { id: 1 } });
      return {};
    },
  });
  const env = { WEBHOOK_RETRY_SECONDS: "600", LOG_LEVEL: "error", OUTBOUND_ALLOW: "127.0.0.1, nowhere.invalid" };
  const started = await startTestApp({ plugins: [...plugins, probe], env: { ...env, ...fields } });
  changes.set(started, (sourceType) => change(sourceType));
  return started;
}

beforeAll(async () => {
  app = await start({ WEBHOOK_TIMEOUT_SECONDS: "60" });
  hasty = await start({ WEBHOOK_TIMEOUT_SECONDS: "1" });
});
afterAll(() => Promise.all([app.stop(), hasty.stop()]));

let made = 0;

/** Sends one event to this address; the delivery after its first attempt. */
async function attemptTo(url: string, by = app) {
  const source_type = `Fault::N${++made}`;
  const answer = await by.post("/account/webhooks.json", { webhook: { source_type, kind: "create", url } });
  expect(answer.status).toBe(201);
  await changes.get(by)?.(source_type);
  return eventually(async () => {
    const { json } = await by.get(`/account/webhooks/${answer.json.id}/deliveries.json`);
    return json[0]?.attempts === 1 ? json[0] : undefined;
  }, "the first attempt");
}

/** Writes these bytes to whoever connects, whatever it says; then what `after` does. */
function rawServer(bytes: string, after: (socket: Bun.Socket) => void) {
  return Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket) {
        socket.write(bytes);
        socket.flush();
        after(socket);
      },
    },
  });
}

const failed = { status: "pending", response_status: null, next_attempt_at: expect.any(String) };

describe("a receiver that", () => {
  test("refuses the connection", async () => {
    const gone = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    const { port } = gone;
    await gone.stop(true);
    const delivery = await attemptTo(`http://127.0.0.1:${port}/`);
    expect(delivery).toMatchObject({
      ...failed,
      error: expect.stringMatching(/^connect: no connection to 127\.0\.0\.1/),
    });
  });

  test("has no name in the DNS", async () => {
    expect((await attemptTo("http://nowhere.invalid/")).error).toMatch(/^dns: /);
  });

  test("hangs before it answers", async () => {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Promise<Response>(() => {}) });
    const delivery = await attemptTo(`http://127.0.0.1:${server.port}/`, hasty);
    expect(delivery).toMatchObject({
      ...failed,
      error: expect.stringMatching(/^timeout: no complete answer within 1000 ms/),
    });
    expect(delivery.duration_ms).toBeGreaterThanOrEqual(990);
    await server.stop(true);
  });

  test("drips its answer for ever", async () => {
    let drip: ReturnType<typeof setInterval> | undefined;
    const server = rawServer("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n", (socket) => {
      drip ??= setInterval(() => socket.write("x"), 20);
    });
    const delivery = await attemptTo(`http://127.0.0.1:${server.port}/`, hasty);
    expect(delivery).toMatchObject({
      status: "pending",
      response_status: 200,
      error: expect.stringMatching(/^timeout: /),
    });
    clearInterval(drip);
    server.stop(true);
  });

  test("answers without an end: 4 KB are read, and it has the delivery", async () => {
    let sent = 0;
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () =>
        new Response(
          new ReadableStream({
            pull(controller) {
              sent += 65_536;
              controller.enqueue(new Uint8Array(65_536).fill(120));
            },
          }),
        ),
    });
    const delivery = await attemptTo(`http://127.0.0.1:${server.port}/`);
    expect(delivery).toMatchObject({ status: "delivered", response_status: 200, error: null });
    expect(delivery.response_body).toBe("x".repeat(4096));
    expect(sent).toBeLessThan(100_000_000);
    await server.stop(true);
  });

  test("has a certificate of its own making", async () => {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", tls: certificate, fetch: () => new Response() });
    expect((await attemptTo(`https://127.0.0.1:${server.port}/`)).error).toMatch(/^tls: no secure connection/);
    await server.stop(true);
  });

  test("speaks no TLS where it should, and nothing that is HTTP", async () => {
    const server = rawServer("220 mail.example.com ESMTP\r\n", (socket) => socket.end());
    expect((await attemptTo(`https://127.0.0.1:${server.port}/`)).error).toMatch(/^(tls|closed): /);
    expect((await attemptTo(`http://127.0.0.1:${server.port}/`)).error).toMatch(/^closed: /);
    server.stop(true);
  });

  test("closes the connection in the middle of its answer", async () => {
    const server = rawServer("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc", (socket) => socket.end());
    const delivery = await attemptTo(`http://127.0.0.1:${server.port}/`);
    expect(delivery).toMatchObject({
      status: "pending",
      error: expect.stringMatching(/^closed: .* closed the connection/),
    });
    server.stop(true);
  });

  test.each([301, 302, 307, 308])("redirects with %i is not followed", async (status) => {
    let followed = false;
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        if (request.url.endsWith("/there")) followed = true;
        return new Response("", { status, headers: { location: "/there" } });
      },
    });
    const delivery = await attemptTo(`http://127.0.0.1:${server.port}/`);
    expect(delivery).toMatchObject({
      status: "pending",
      response_status: status,
      error: expect.stringMatching(/^redirect: .*\/there/),
    });
    expect(followed).toBe(false);
    await server.stop(true);
  });

  test("answers 429 is asked again when it says", async () => {
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => new Response("slow down", { status: 429, headers: { "retry-after": "7200" } }),
    });
    const delivery = await attemptTo(`http://127.0.0.1:${server.port}/`);
    expect(delivery).toMatchObject({
      response_status: 429,
      response_body: "slow down",
      error: expect.stringContaining("Retry-After: 7200"),
    });
    expect(Date.parse(delivery.next_attempt_at) - Date.parse(delivery.attempted_at)).toBeGreaterThanOrEqual(7_200_000);
    await server.stop(true);
  });

  test("answers what no text column holds", async () => {
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => new Response(new Uint8Array([0, 255, 254, 65, 0, 240, 159])),
    });
    expect(await attemptTo(`http://127.0.0.1:${server.port}/`)).toMatchObject({
      status: "delivered",
      response_body: expect.stringContaining("A"),
    });
    await server.stop(true);
  });
});

test("addresses that are not public are refused, however they are written", async () => {
  const addresses = [
    "http://127.0.0.2/",
    "http://[::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://0.0.0.0/",
    "http://2130706434/",
    "http://0x7f.0.0.2/",
    "http://0177.0.0.2/",
    "http://169.254.169.254/latest/meta-data",
    "http://10.1.2.3/",
    "http://192.168.0.1/",
    "http://[fc00::1]/",
    "http://[fe80::1]/",
  ];
  for (const { status, error } of await Promise.all(addresses.map((url) => attemptTo(url)))) {
    expect(status).toBe("pending");
    expect(error).toMatch(/^refused-address: /);
  }
});

/** What a server of either host does by itself. Deno runs this file too (tests/deno/pure-tests.ts). */
import { afterAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import { host } from "#host";

const signals: AbortSignal[] = [];
const server = host.listen({
  port: 0,
  hostname: "127.0.0.1",
  idleSeconds: (request) => (request.url.endsWith("/silent") ? 1 : undefined),
  fetch(request) {
    signals.push(request.signal);
    return new Response(request.url.replace(/^http:\/\/[^/]{1,100}/, ""));
  },
});
afterAll(() => server.stop(true));

/** The status and body of the answer to these bytes, in one packet. */
async function answerTo(request: string): Promise<string[]> {
  const socket = connect(server.port, "127.0.0.1", () => socket.write(request));
  const [bytes] = await once(socket, "data");
  socket.destroy();
  const [head = "", body = ""] = String(bytes).split("\r\n\r\n");
  return [head.split(" ")[1] ?? "", body];
}

const named = "Host: 127.0.0.1\r\n";
const lines = (count: number) => Array.from({ length: count }, (_, n) => `X-${n}: a\r\n`).join("");

describe("a request", () => {
  test.each([
    ["without a Host", "GET /a HTTP/1.1\r\n\r\n", "400"],
    ["with a header of 17 kB", `GET /a HTTP/1.1\r\n${named}X: ${"a".repeat(17_000)}\r\n\r\n`, "431"],
    ["with an address of 20 kB", `GET /a?${"a".repeat(20_000)} HTTP/1.1\r\n${named}\r\n`, "431"],
    ["with two lengths", `POST /a HTTP/1.1\r\n${named}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n`, "400"],
  ])("%s is refused", async (_, request, status) => {
    expect((await answerTo(request))[0]).toBe(status);
  });

  test.each([
    ["90 headers", `GET /a HTTP/1.1\r\n${named}${lines(90)}\r\n`, "/a"],
    ["dots in its path", `GET /b/../a HTTP/1.1\r\n${named}\r\n`, "/a"],
    ["coded dots in its path", `GET /b/%2e%2E/a HTTP/1.1\r\n${named}\r\n`, "/a"],
    ["a backslash in its path", `GET /b\\..\\a HTTP/1.1\r\n${named}\r\n`, "/a"],
  ])("with %s is answered", async (_, request, path) => {
    expect(await answerTo(request)).toEqual(["200", path]);
  });

  test("that was answered is not aborted when its connection ends", async () => {
    signals.splice(0);
    await answerTo(`GET /a HTTP/1.1\r\n${named}\r\n`);
    await answerTo(`GET /a HTTP/1.1\r\n${named}\r\n`);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  });
});

test("a connection that is silent for too long is ended", async () => {
  const socket = connect(server.port, "127.0.0.1");
  const closed = once(socket, "close");
  socket.write(`GET /silent HTTP/1.1\r\n${named}\r\n`);
  expect(String((await once(socket, "data"))[0])).toStartWith("HTTP/1.1 200");
  await closed;
});

test("a taken port is an error with its code, and a server that has stopped may be stopped again", async () => {
  const listen = () => host.listen({ port: server.port, hostname: "127.0.0.1", fetch: () => new Response() });
  expect(listen).toThrow(expect.objectContaining({ code: "EADDRINUSE" }));
  const other = host.listen({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  await other.stop();
  await other.stop(true);
});

import { afterAll, describe, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import { createServer as createTlsServer, createSecureContext } from "node:tls";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { host } from "#host";
import { createLog } from "../system/log.ts";
import { parseAllow } from "../net/addresses.ts";
import {
  fetchOutside as fetchFrom,
  OutboundFault,
  type Fetch,
  type OutboundRequest,
  type OutboundOptions,
} from "./outbound.ts";
import { certificate } from "../../tests/fixtures/outbound.ts";

const log = createLog("error", () => {});
const stops: (() => void)[] = [];
afterAll(() => stops.forEach((stop) => stop()));

const outbound = ({
  allow = "127.0.0.0/8",
  ...options
}: Partial<Omit<OutboundOptions, "allow">> & { allow?: string } = {}) => {
  const send: Fetch = (url, request) => fetchFrom({ allow: parseAllow(allow), log, ...options }, url, request);
  return { fetchOutside: send };
};
const { fetchOutside } = outbound();

function serve(fetch: (request: Request) => Response | Promise<Response>, hostname = "127.0.0.1", port = 0) {
  const server = host.listen({ port, hostname, fetch });
  stops.push(() => void server.stop(true));
  return { url: `http://${hostname}:${server.port}`, port: server.port };
}

/** A server that says what `answer` writes, however wrong, once a request has begun. */
async function serveRaw(answer: (socket: Socket) => void): Promise<string> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => {}).on("close", () => open.delete(socket));
    socket.once("data", () => answer(socket));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  stops.push(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `http://127.0.0.1:${address.port}/`;
}

/** Writes `chunk` as long as the other side reads. */
function pour(socket: Socket, chunk: string | Uint8Array): void {
  while (!socket.destroyed && socket.write(chunk));
  if (!socket.destroyed) socket.once("drain", () => pour(socket, chunk));
}

async function faultOf(promise: Promise<unknown>): Promise<OutboundFault> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof OutboundFault) return outcome;
  throw new Error(`expected an OutboundFault, got ${String(outcome)}`);
}

describe("an answer", () => {
  test("comes back with status, headers, body, time and address; Host and method are right", async () => {
    const { port } = serve(async (request) =>
      Response.json(
        {
          host: request.headers.get("host"),
          method: request.method,
          body: await request.text(),
          x: request.headers.get("x-a"),
        },
        { status: 201, headers: { "x-answer": "yes" } },
      ),
    );
    const named = outbound({ lookup: async () => ["127.0.0.1"] });
    const answer = await named.fetchOutside(`http://receiver.example:${port}/path?q=1`, {
      method: "POST",
      body: "{}",
      headers: { "X-A": "b", Host: "other.example", "Content-Length": "999" },
    });
    expect(answer.status).toBe(201);
    expect(JSON.parse(answer.text())).toEqual({ host: `receiver.example:${port}`, method: "POST", body: "{}", x: "b" });
    expect(answer).toMatchObject({ truncated: false, address: "127.0.0.1" });
    expect(answer.headers.get("x-answer")).toBe("yes");
    expect(answer.durationMs).toBeGreaterThan(0);
  });

  test.each([301, 302, 307, 410, 429, 500])("of status %d is an answer like any other", async (status) => {
    const { url } = serve(
      () => new Response("no", { status, headers: { location: "http://10.0.0.1/", "retry-after": "7" } }),
    );
    const answer = await fetchOutside(url, { method: "POST", body: "x" });
    expect([answer.status, answer.text(), answer.headers.get("retry-after")]).toEqual([status, "no", "7"]);
  });

  test.each([
    ["gzip", gzipSync("packed text")],
    ["br", brotliCompressSync("packed text")],
    ["identity", Buffer.from("packed text")],
  ])("packed with %s is unpacked", async (encoding, bytes) => {
    const { url } = serve(() => new Response(bytes, { headers: { "content-encoding": encoding } }));
    expect((await fetchOutside(url)).text()).toBe("packed text");
  });

  test("connections are kept alive", async () => {
    const ports = new Set<number>();
    const server = host.listen({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => {
        ports.add(server.peer(request)?.port ?? 0);
        return new Response("ok");
      },
    });
    stops.push(() => void server.stop(true));
    const url = `http://127.0.0.1:${server.port}/`;
    for (let i = 0; i < 20; i++) await fetchOutside(url, { method: "POST", body: "x" });
    expect(ports.size).toBe(1);
  });

  test("to HEAD, and without a body, is read", async () => {
    const { url } = serve(() => new Response(null, { status: 204 }));
    expect((await fetchOutside(url)).body.length).toBe(0);
    expect((await fetchOutside(url, { method: "HEAD" })).status).toBe(204);
  });
});

describe("a URL", () => {
  test.each([
    ["not a url"],
    ["/relative"],
    ["ftp://example.com/"],
    ["file:///etc/passwd"],
    ["data:text/plain,x"],
    ["http://user:secret@example.com/"],
    ["http://user@example.com/"],
    ["http://"],
  ])("%s is refused as a bad URL", async (url) => {
    expect((await faultOf(fetchOutside(url))).kind).toBe("bad-url");
  });

  test("with headers that would split the request is refused", async () => {
    const { url } = serve(() => new Response("x"));
    for (const headers of [{ "x-a": "b\r\nx-c: d" }, { "x\n": "b" }]) {
      expect((await faultOf(fetchOutside(url, { headers }))).kind).toBe("bad-url");
    }
  });
});

describe("an address that is not public is refused without OUTBOUND_ALLOW", () => {
  const closed = outbound({ allow: "", connect: () => Promise.reject(new Error("must not connect")) });

  test.each([
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1.",
    "①②⑦.0.0.1",
    "0.0.0.0",
    "0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "0xa9fea9fe",
    "192.0.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:10.0.0.1]",
    "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::169.254.169.254]",
    "[64:ff9b:1::1]",
    "[2002:7f00:1::]",
    "[2002:a9fe:a9fe::]",
    "[2001:0:7f00:1::]",
    "[fc00::1]",
    "[fd12:3456::1]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[100::1]",
    "[2001:db8::1]",
    "[5f00::1]",
    "[3fff::1]",
    "[4000::1]",
  ])("http://%s/", async (address) => {
    expect((await faultOf(closed.fetchOutside(`http://${address}/`))).kind).toBe("refused-address");
  });

  test("nor reached through a name, localhost with or without a dot included", async () => {
    for (const name of ["localhost", "localhost.", "LOCALHOST"]) {
      expect((await faultOf(closed.fetchOutside(`http://${name}/`))).kind).toBe("refused-address");
    }
    for (const address of ["10.1.2.3", "::1", "::ffff:127.0.0.1", "fe80::1%eth0", "not an address"]) {
      const tricky = outbound({ allow: "", lookup: async () => ["93.184.216.34", address] });
      expect((await faultOf(tricky.fetchOutside("https://mixed.example/"))).kind).toBe("refused-address");
    }
  });

  test("public addresses pass", async () => {
    const seen: string[] = [];
    const connect: OutboundOptions["connect"] = async (_url, address) => (seen.push(address), new Response("ok"));
    const open = outbound({ allow: "", connect, lookup: async () => ["2606:4700::1111", "93.184.216.34"] });
    await open.fetchOutside("https://public.example:8443/a?b=c#d");
    await open.fetchOutside("http://8.8.8.8/");
    await open.fetchOutside("http://[2606:4700::1111]/");
    expect(seen).toEqual(["93.184.216.34", "8.8.8.8", "2606:4700::1111"]);
  });
});

describe("OUTBOUND_ALLOW", () => {
  const cases: [string, string, boolean][] = [
    ["10.0.0.0/8", "http://10.2.3.4/", true],
    ["10.0.0.0/8", "http://11.2.3.4:80/", true],
    ["10.0.0.0/8", "http://192.168.0.1/", false],
    ["192.168.0.7", "http://192.168.0.7:99/", true],
    ["192.168.0.7", "http://192.168.0.8/", false],
    ["192.168.0.7:99", "http://192.168.0.7:99/", true],
    ["192.168.0.7:99", "http://192.168.0.7/", false],
    ["fd00::/8, 10.0.0.0/8", "http://[fd00::5]/", true],
    ["fd00::/8", "http://[fc00::5]/", false],
    ["[fd00::5]:8080", "http://[fd00::5]:8080/", true],
    ["[fd00::5]:8080", "http://[fd00::5]:8081/", false],
    ["127.0.0.0/8", "http://[::ffff:127.0.0.1]/", true],
    ["intranet.example", "http://intranet.example/", true],
    ["Intranet.Example", "http://INTRANET.example./", true],
    ["intranet.example", "http://x.intranet.example/", false],
    ["intranet.example:8443", "https://intranet.example:8443/", true],
    ["intranet.example:443", "https://intranet.example/", true],
    ["intranet.example:8443", "https://intranet.example/", false],
  ];
  test.each(cases)("%s and %s: %p", async (allow, url, reached) => {
    const guarded = outbound({
      allow,
      connect: async () => new Response("ok"),
      lookup: async () => ["10.9.9.9"].filter(() => !allow.startsWith("10")),
    });
    const outcome = await guarded.fetchOutside(url).catch((error: unknown) => error);
    if (reached) expect(outcome).toMatchObject({ status: 200 });
    else expect(outcome).toMatchObject({ kind: "refused-address" });
  });

  test.each([
    "10.0.0.0/99",
    "http://x.example",
    "a b",
    "10.0.0.0/8:443",
    "user@host",
    "!!",
    "a..b",
    "[zz]",
    "x:123456",
  ])("%p is refused with its name", (allow) => {
    expect(() => parseAllow(`10.0.0.0/8,${allow}`)).toThrow(
      `must name networks (10.0.0.0/8), hosts or host:port, and "${allow}" is none`,
    );
  });

  test.each(["localhost:8080", "my_host", "zażółć.example", "xn--a-b.example.", "300.1.1.1", "::1", "10.0.0.1:65535"])(
    "%p is accepted",
    (allow) => expect(() => parseAllow(` ${allow} , , ${allow.toUpperCase()}`)).not.toThrow(),
  );
});

describe("a name that changes its answer between check and connect", () => {
  test("is asked once, and the checked address is the one that is reached", async () => {
    const { port } = serve(() => new Response("private"));
    serve(() => new Response("checked"), "127.0.0.2", port);
    const answers = ["127.0.0.2", "127.0.0.1"];
    let asked = 0;
    const rebinding = outbound({ allow: "127.0.0.2/32", lookup: async () => [answers[asked++] ?? "127.0.0.1"] });
    const answer = await rebinding.fetchOutside(`http://rebind.example:${port}/`);
    expect([answer.text(), answer.address, asked]).toEqual(["checked", "127.0.0.2", 1]);
    expect((await faultOf(rebinding.fetchOutside(`http://rebind.example:${port}/`))).kind).toBe("refused-address");
  });
});

describe("redirects", () => {
  const follow: OutboundRequest = { redirect: "same-origin" };

  test("within the origin are followed three times at most", async () => {
    const { url } = serve((request) => {
      const left = Number(new URL(request.url).pathname.slice(1));
      return left === 0
        ? new Response("here")
        : new Response(null, { status: 302, headers: { location: `/${left - 1}` } });
    });
    expect((await fetchOutside(`${url}/3`, follow)).text()).toBe("here");
    expect(await faultOf(fetchOutside(`${url}/4`, follow))).toMatchObject({ kind: "redirect", status: 302 });
  });

  test.each([
    "http://127.0.0.1:1/",
    "https://127.0.0.1/",
    "http://169.254.169.254/",
    "//evil.example/",
    "file:///etc/passwd",
    "http://[",
  ])("to %s are refused", async (location) => {
    const { url } = serve(() => new Response(null, { status: 301, headers: { location } }));
    expect(await faultOf(fetchOutside(url, follow))).toMatchObject({ kind: "redirect", status: 301 });
  });

  test("of the same origin are resolved and checked again", async () => {
    const { port } = serve(() => new Response(null, { status: 302, headers: { location: "/again" } }));
    const answers = ["127.0.0.1", "10.0.0.1"];
    const turning = outbound({ lookup: async () => [answers.shift() ?? "10.0.0.1"] });
    expect((await faultOf(turning.fetchOutside(`http://turn.example:${port}/`, follow))).kind).toBe("refused-address");
  });

  test.each([
    [303, "GET", ""],
    [302, "GET", ""],
    [307, "POST", "body"],
    [308, "POST", "body"],
  ])("a POST answered %d goes on as %s", async (status, method, body) => {
    const { url } = serve(async (request) =>
      request.url.endsWith("/end")
        ? new Response(`${request.method} ${await request.text()} ${request.headers.get("content-type")}`)
        : new Response(null, { status, headers: { location: "/end" } }),
    );
    const headers = { "content-type": "text/x" };
    const answer = await fetchOutside(url, { ...follow, method: "POST", body: "body", headers });
    expect(answer.text()).toBe(`${method} ${body} ${body === "" ? null : "text/x"}`);
  });
});

describe("a receiver that", () => {
  const tests: [string, string, (socket: Socket) => void, { status?: number }][] = [
    ["closes without an answer", "closed", (s) => s.end(), {}],
    ["resets", "closed", (s) => s.resetAndDestroy(), {}],
    ["does not speak HTTP", "closed", (s) => s.end("SSH-2.0-x\r\n\r\n"), {}],
    ["closes mid-answer", "closed", (s) => s.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), {}],
    [
      "closes mid-chunk, after its headers",
      "closed",
      (s) => {
        s.write("HTTP/1.1 202 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
        setTimeout(() => s.end(), 50);
      },
      { status: 202 },
    ],
    [
      "sends endless headers",
      "closed",
      (s) => (s.write("HTTP/1.1 200 OK\r\n"), pour(s, `X-A: ${"b".repeat(999)}\r\n`)),
      {},
    ],
    ["sends one endless header", "closed", (s) => (s.write("HTTP/1.1 200 OK\r\nX: "), pour(s, "b".repeat(9999))), {}],
    ["sends endless 100 Continue", "timeout", (s) => pour(s, "HTTP/1.1 100 Continue\r\n\r\n".repeat(99)), {}],
    ["hangs", "timeout", () => {}, {}],
    [
      "drips",
      "timeout",
      (s) => {
        s.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
        const timer = setInterval(() => (s.destroyed ? clearInterval(timer) : s.write("a")), 20);
      },
      { status: 200 },
    ],
    [
      "sends 10 GB",
      "too-large",
      (s) => (s.write("HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n"), pour(s, Buffer.alloc(65_536))),
      { status: 200 },
    ],
    [
      "sends without an end",
      "too-large",
      (s) => (s.write("HTTP/1.1 500 No\r\n\r\n"), pour(s, Buffer.alloc(65_536))),
      { status: 500 },
    ],
    [
      "sends broken gzip",
      "closed",
      (s) => s.end("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"),
      { status: 200 },
    ],
  ];
  test.each(tests)("%s: %s", async (_what, kind, answer, more) => {
    const url = await serveRaw(answer);
    const fault = await faultOf(fetchOutside(url, { timeoutMs: kind === "timeout" ? 300 : 15_000 }));
    expect(fault).toMatchObject({ ...more, kind, address: "127.0.0.1" });
  });

  test("is not there: connect, and its next address is tried", async () => {
    const { port } = serve(() => new Response("second"), "127.0.0.3");
    expect(await faultOf(fetchOutside(`http://127.0.0.1:${port}/`))).toMatchObject({
      kind: "connect",
      address: "127.0.0.1",
    });
    const two = outbound({ lookup: async () => ["127.0.0.1", "127.0.0.3"] });
    expect((await two.fetchOutside(`http://two.example:${port}/`)).text()).toBe("second");
  });

  test("has no name: dns, also when the look-up hangs", async () => {
    const nameless = outbound({ lookup: () => Promise.reject(new Error("ENOTFOUND")) });
    expect((await faultOf(nameless.fetchOutside("http://no.example/"))).kind).toBe("dns");
    expect((await faultOf(outbound({ lookup: async () => [] }).fetchOutside("http://no.example/"))).kind).toBe("dns");
    const hanging = outbound({ lookup: () => new Promise<never>(() => {}) });
    expect((await faultOf(hanging.fetchOutside("http://no.example/", { timeoutMs: 50 }))).kind).toBe("timeout");
  });

  test("sends a gzip bomb is cut off at the limit, counted after unpacking", async () => {
    const bomb = gzipSync(Buffer.alloc(100_000_000));
    const { url } = serve(() => new Response(bomb, { headers: { "content-encoding": "gzip" } }));
    expect((await faultOf(fetchOutside(url))).kind).toBe("too-large");
    const cut = await fetchOutside(url, { overflow: "truncate", maxBytes: 4096 });
    expect([cut.body.length, cut.truncated, cut.status]).toEqual([4096, true, 200]);
  });

  test("sends exactly the limit is heard out", async () => {
    const { url } = serve(() => new Response("x".repeat(1000)));
    expect((await fetchOutside(url, { maxBytes: 1000 })).truncated).toBe(false);
    expect((await faultOf(fetchOutside(url, { maxBytes: 999 }))).kind).toBe("too-large");
  });

  test("sends too much stops being read at once", async () => {
    let sent = 0;
    const closed = Promise.withResolvers<void>();
    const url = await serveRaw((socket) => {
      socket.on("close", () => closed.resolve());
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n");
      const more = () => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536))) sent += 65_536;
        if (!socket.destroyed) socket.once("drain", more);
      };
      more();
    });
    expect((await fetchOutside(url, { overflow: "truncate", maxBytes: 1000 })).truncated).toBe(true);
    await closed.promise;
    expect(sent).toBeLessThan(50_000_000);
  });
});

test("the caller's own signal ends a request with its own reason", async () => {
  const url = await serveRaw(() => {});
  const stop = new AbortController();
  const reason = new Error("the process stops");
  setTimeout(() => stop.abort(reason), 30);
  expect(await fetchOutside(url, { signal: stop.signal }).catch((error: unknown) => error)).toBe(reason);
  expect(await fetchOutside(url, { signal: stop.signal }).catch((error: unknown) => error)).toBe(reason);
});

describe("TLS", () => {
  const { key, cert } = certificate;
  const serverNames: (string | undefined)[] = [];

  async function serveTls(): Promise<number> {
    const SNICallback = (
      name: string,
      done: (error: Error | null, context: ReturnType<typeof createSecureContext>) => void,
    ) => {
      serverNames.push(name);
      done(null, createSecureContext({ key, cert }));
    };
    const server = createTlsServer({ key, cert, SNICallback }, (socket) => {
      socket.on("error", () => {});
      socket.on("data", (data) => {
        const named = /^host: (.*)$/im.exec(String(data))?.[1] ?? "";
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${named.length}\r\n\r\n${named}`);
      });
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    stops.push(() => void server.close());
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    return address.port;
  }
  test("asks for the name, checks the certificate for it, and never takes another name's connection", async () => {
    const port = await serveTls();
    const trusting = outbound({ lookup: async () => ["127.0.0.1"], ca: cert });
    for (let i = 0; i < 2; i++) {
      const answer = await trusting.fetchOutside(`https://good.example:${port}/`);
      expect(answer.text().trim()).toBe(`good.example:${port}`);
    }
    expect(serverNames).toEqual(["good.example"]);
    expect(await faultOf(trusting.fetchOutside(`https://bad.example:${port}/`))).toMatchObject({ kind: "tls" });
    expect(await faultOf(trusting.fetchOutside(`https://127.0.0.1:${port}/`))).toMatchObject({ kind: "tls" });
    expect(serverNames.slice(0, 2)).toEqual(["good.example", "bad.example"]);
  });

  test("refuses a self-signed certificate, and a server that does not speak it", async () => {
    const port = await serveTls();
    const strict = outbound({ lookup: async () => ["127.0.0.1"] });
    expect((await faultOf(strict.fetchOutside(`https://good.example:${port}/`))).kind).toBe("tls");
    const plain = serve(() => new Response("plain"));
    expect((await faultOf(strict.fetchOutside(`https://good.example:${plain.port}/`))).kind).toBe("tls");
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { eventually, startTestApp, type TestApp } from "../../tests/harness.ts";
import { follower, traces } from "../../tests/traces.ts";
import { certificate, otherPrivateHosts } from "../../tests/fixtures/outbound.ts";
import { connectors } from "../connectors/api.ts";
import { plugins } from "../index.ts";
import { parseAddress } from "./address.ts";

interface Received {
  readonly from: string;
  readonly to: string[];
  readonly raw: string;
  readonly user: unknown;
  readonly secure: boolean;
}

const password = "pass word ŻÓŁĆ 0123456789";
const stops: (() => unknown)[] = [];
let app: TestApp;
let received: Received[] = [];
let port = 0;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower], env: { CONNECTOR_PUBLIC_LIMIT: "5" } });
  port = await serve({ hideSTARTTLS: true });
});
beforeEach(() => void (received = []));
afterAll(async () => {
  await app.stop();
  for (const stop of stops) stop();
});

/** A real mail server that takes mails of `mailer`, and of nobody else. */
async function serve(options: SMTPServerOptions): Promise<number> {
  const server = new SMTPServer({
    logger: false,
    allowInsecureAuth: true,
    authOptional: true,
    ...certificate,
    onAuth({ username, password: given }, _, done) {
      if (username === "mailer" && given === password) return done(null, { user: username });
      done(new Error(`no such user: ${username} ${given}`));
    },
    onRcptTo({ address }, _, done) {
      done(address.startsWith("nobody") ? new Error("no such mailbox") : undefined);
    },
    onData(stream, { envelope, user, secure }, done) {
      const parts: Buffer[] = [];
      stream
        .on("data", (part: Buffer) => parts.push(part))
        .on("end", () => {
          const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
          const to = envelope.rcptTo.map(({ address }) => address);
          received.push({ from, to, raw: Buffer.concat(parts).toString(), user, secure });
          done(null, "taken as 42");
        });
    },
    ...options,
  });
  server.on("error", () => {});
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  stops.push(() => server.close());
  const address = server.server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

let made = 0;
async function connector(given: { fields?: object; [key: string]: unknown } = {}): Promise<string> {
  const code = `mail-${++made}`;
  const { fields, ...rest } = given;
  const answer = await app.post("/connect/connectors.json", {
    connector: {
      name: code,
      code,
      kind: "core/smtp",
      url: `smtp://127.0.0.1:${port}`,
      secret_token: password,
      fields: { user: "mailer", from: "Sklep Łódź <shop@example.com>", ...fields },
      ...rest,
    },
  });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return code;
}
const mail = { to: "ewa@example.com", subject: "Hello", text: "How are you?" };
const send = (code: string, params: object, options?: object) =>
  app.post(`/connect/connectors/${code}/send`, params, options);
const decoded = (text: string) =>
  text.replaceAll(/=\?UTF-8\?([BQ])\?([^?]*)\?=(?:\r\n )?/gi, (_, kind: string, word: string) =>
    kind.toUpperCase() === "B" ? Buffer.from(word, "base64").toString() : unquoted(word.replaceAll("_", " ")),
  );
const unquoted = (text: string) =>
  Buffer.from(
    text
      .replaceAll(/=\r\n/g, "")
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  ).toString();
/** The bodies of a mail's parts, decoded. */
function partsOf(raw: string): string[] {
  const boundaries = [...raw.matchAll(/boundary="([^"]+)"/g)].map(([, one = ""]) => one);
  let parts = [raw];
  for (const boundary of boundaries) parts = parts.flatMap((part) => part.split(`--${boundary}`));
  return parts.flatMap((part) => {
    const [head = "", ...body] = part.split("\r\n\r\n");
    const text = body.join("\r\n\r\n");
    if (/base64/i.test(head)) return Buffer.from(text, "base64").toString();
    return /quoted-printable/i.test(head) ? unquoted(text).trim() : text.trim();
  });
}

describe("send", () => {
  test("delivers a whole mail, as it was given", async () => {
    const answer = await send(await connector(), {
      to: ['"Nowak, Ewa" <ewa@example.com>', "jan@example.com"],
      cc: "Zażółć <cc@example.com>, second@example.com",
      bcc: "hidden@example.com",
      reply_to: "answers@example.com",
      subject: "Zamówienie nr 7 — przyjęte 😀",
      text: "Dziękujemy!\n.\nŁącznie: 12,50 zł",
      html: "<p>Dziękujemy!</p>",
      attachments: [{ name: "rachunek ł.txt", content: btoa("a bill"), content_type: "text/plain" }],
    });
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        status: 250,
        data: {
          message_id: expect.stringMatching(/^<[\w-]+@example\.com>$/),
          accepted: [
            "ewa@example.com",
            "jan@example.com",
            "cc@example.com",
            "second@example.com",
            "hidden@example.com",
          ],
          rejected: [],
          response: "250 taken as 42",
        },
      },
    ]);
    const [got] = received;
    expect(got).toMatchObject({ from: "shop@example.com", user: "mailer", to: answer.json.data.accepted });
    const raw = got?.raw ?? "";
    const head = decoded(raw.slice(0, raw.indexOf("\r\n\r\n")));
    expect(head).toContain("From: Sklep Łódź <shop@example.com>");
    expect(head).toContain('To: "Nowak, Ewa" <ewa@example.com>, jan@example.com');
    expect(head).toContain("Cc: Zażółć <cc@example.com>, second@example.com");
    expect(head).toContain("Reply-To: answers@example.com");
    expect(head).toContain("Subject: Zamówienie nr 7 — przyjęte 😀");
    expect(head).toContain("Auto-Submitted: auto-generated");
    expect(raw).not.toContain("hidden@example.com");
    expect(partsOf(raw)).toEqual(
      expect.arrayContaining(["Dziękujemy!\r\n.\r\nŁącznie: 12,50 zł", "<p>Dziękujemy!</p>", "a bill"]),
    );
  });

  const wrong: [params: object, field: string][] = [
    [{ to: undefined }, "to"],
    [{ to: "" }, "to"],
    [{ to: [] }, "to"],
    [{ to: 7 }, "to"],
    [{ to: { a: 1 } }, "to"],
    [{ to: ["ewa@example.com", 7] }, "to"],
    [{ to: "nobody" }, "to"],
    [{ to: "a@b@c" }, "to"],
    [{ to: "ewa@example.com\r\nBcc: all@example.com" }, "to"],
    [{ to: ["ewa@example.com\nBcc: all@example.com"] }, "to"],
    [{ to: "Ewa\r\nX-Evil: 1 <ewa@example.com>" }, "to"],
    [{ to: "<ewa@example.com> SIZE=1" }, "to"],
    [{ to: ["ewa@example.com, jan@example.com"] }, "to"],
    [{ to: Array.from({ length: 101 }, (_, n) => `n${n}@example.com`) }, "to"],
    [{ cc: Array.from({ length: 60 }, () => "a@example.com"), bcc: Array(60).fill("b@example.com") }, "to"],
    [{ to: `${"x".repeat(65)}@example.com` }, "to"],
    [{ cc: "x\u0000@example.com" }, "cc"],
    [{ bcc: "x\u2028@example.com" }, "bcc"],
    [{ reply_to: "a@example.com\r\nX: y" }, "reply_to"],
    [{ from: "a@example.com\nX: y" }, "from"],
    [{ from: "a@example.com, b@example.com" }, "from"],
    [{ subject: undefined }, "subject"],
    [{ subject: 7 }, "subject"],
    [{ subject: "a\r\nBcc: all@example.com" }, "subject"],
    [{ subject: "a\nb" }, "subject"],
    [{ subject: "x".repeat(999) }, "subject"],
    [{ text: undefined }, "text"],
    [{ text: 7 }, "text"],
    [{ text: "a\0b" }, "text"],
    [{ text: "x".repeat(2_000_001) }, "text"],
    [{ html: ["x"] }, "html"],
    [{ attachments: "x" }, "attachments"],
    [{ attachments: Array.from({ length: 21 }, () => ({ name: "a", content: "" })) }, "attachments"],
    [{ attachments: [{ name: "a\r\nX: y", content: "" }] }, "attachments[0].name"],
    [{ attachments: [{ content: "" }] }, "attachments[0].name"],
    [{ attachments: [{ name: "a", content: "no base64!" }] }, "attachments[0].content"],
    [{ attachments: [{ name: "a", path: "/etc/passwd" }] }, "attachments[0].content"],
    [{ attachments: [{ name: "a", content: "", content_type: "a\r\nb/c" }] }, "attachments[0].content_type"],
    [{ attachments: [{ name: "a", content: "AAAA".repeat(2_333_334) }] }, "attachments"],
  ];
  test("names the wrong field: 422, nothing is sent, no row and no event", async () => {
    const code = await connector();
    const before = await traces(app, "connectors");
    for (const [params, field] of wrong) {
      const answer = await send(code, { ...mail, ...params });
      expect([field, answer.status, Object.keys(answer.json)]).toEqual([field, 422, [field]]);
    }
    expect(await traces(app, "connectors")).toEqual(before);
    const nameless = await connector({ fields: { from: undefined } });
    expect((await send(nameless, mail)).json).toEqual({ from: [expect.stringContaining("required")] });
    expect(received).toHaveLength(0);
    expect((await send(nameless, { ...mail, from: "shop@example.com" })).status).toBe(200);
  });

  test("reads no file and fetches no address", async () => {
    const params = { ...mail, text: { path: "/etc/passwd" } };
    expect((await send(await connector(), params)).status).toBe(422);
    const attachments = [{ name: "a", content: "", path: "/etc/passwd", href: app.origin }];
    expect((await send(await connector(), { ...mail, attachments })).status).toBe(200);
    expect(received[0]?.raw).not.toContain("root:");
  });

  test("with a wrong password is 502 and tells nothing of it", async () => {
    const code = await connector({ secret_token: "wrong wrong wrong" });
    const answer = await send(code, mail);
    expect(answer).toMatchObject({
      status: 502,
      json: { error: "the mail server refused the sign-in (535)", status: 535, data: null },
    });
    expect(`${answer.text}${app.logged.join()}`).not.toContain("wrong wrong");
    expect(received).toHaveLength(0);
  });

  test("names the recipients that were refused; 502 if all were", async () => {
    const code = await connector();
    const some = await send(code, { ...mail, to: "ewa@example.com, nobody@example.com" });
    expect(some).toMatchObject({
      status: 200,
      json: {
        data: {
          accepted: ["ewa@example.com"],
          rejected: [{ address: "nobody@example.com", error: expect.stringContaining("no such mailbox") }],
        },
      },
    });
    const none = await send(code, { ...mail, to: "nobody@example.com" });
    expect(none).toMatchObject({
      status: 502,
      json: { error: expect.stringContaining("no such mailbox"), status: 550 },
    });
    expect(received).toHaveLength(1);
  });

  test("to what does not answer, hangs, or is no mail server is 502 that says so", async () => {
    const raw = async (greeting: string | undefined) => {
      const server = createServer((socket) => {
        socket.on("error", () => {});
        if (greeting !== undefined) socket.end(greeting);
      });
      await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
      stops.push(() => server.close());
      const address = server.address();
      return `smtp://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
    };
    const service = app.service(connectors);
    const call = async (url: string, timeoutMs = 10_000) =>
      service.call({ accountId: 1, code: await connector({ url }), method: "send", params: mail, timeoutMs });
    expect(await call("smtp://127.0.0.1:1")).toMatchObject({
      ok: false,
      error: expect.stringContaining("no connection"),
    });
    expect(await call(await raw(undefined), 200)).toMatchObject({
      ok: false,
      error: "the mail server did not take the mail within 200 ms",
    });
    expect(await call(await raw("HTTP/1.1 400 Bad Request\r\n\r\n"))).toMatchObject({ ok: false, status: null });
    expect(await call(await raw("554 go away\r\n"))).toMatchObject({ ok: false, error: expect.any(String) });
  });

  test("reaches no address that is not public, however it is written", async () => {
    for (const host of otherPrivateHosts) {
      const answer = await send(await connector({ url: `smtp://${host}:${port}` }), mail);
      expect([host, answer.status, answer.json.error]).toEqual([
        host,
        502,
        expect.stringContaining("not a public address"),
      ]);
    }
    expect(received).toHaveLength(0);
  });
});

describe("TLS", () => {
  const ca = certificate.cert;
  test("is used if it is offered, and the certificate is checked", async () => {
    const url = `smtp://127.0.0.1:${await serve({})}`;
    const trusted = { ca, servername: "good.example" };
    expect((await send(await connector({ url, fields: trusted }), mail)).status).toBe(200);
    expect(received.map(({ secure, user }) => [secure, user])).toEqual([[true, "mailer"]]);
    for (const fields of [{}, { ca }, { ca, servername: "other.example" }, { servername: "good.example" }]) {
      const answer = await send(await connector({ url, fields }), mail);
      expect([answer.status, answer.json.error]).toEqual([502, expect.stringContaining("secure connection")]);
    }
    expect((await send(await connector({ url, fields: { tls: "none" } }), mail)).status).toBe(200);
    expect(received.map(({ secure }) => secure)).toEqual([true, false]);
  });

  test("that is required is not done without", async () => {
    const url = `smtp://127.0.0.1:${await serve({ disabledCommands: ["STARTTLS"] })}`;
    const answer = await send(await connector({ url, fields: { tls: "required" } }), mail);
    expect([answer.status, answer.json.error]).toEqual([502, expect.stringContaining("secure connection")]);
    expect(received).toHaveLength(0);
  });

  test("from the first byte with smtps", async () => {
    const url = `smtps://127.0.0.1:${await serve({ secure: true })}`;
    expect((await send(await connector({ url, fields: { ca, servername: "good.example" } }), mail)).status).toBe(200);
    expect(received[0]?.secure).toBe(true);
    expect((await send(await connector({ url }), mail)).json.error).toContain("secure connection");
  });
});

describe("a declared mail", () => {
  const methods = {
    contact: {
      to: "office@example.com",
      reply_to: "{email}",
      subject: "Question of {name}",
      text: "{question}",
      html: "<p>{question}</p>",
      public: true,
    },
    create: { to: "{email}", subject: "Order {id}", text: "Thank you, {name}" },
  };

  test("is filled from the parameters, which stay text", async () => {
    const code = await connector({ fields: { methods } });
    const params = { name: "Ewa", email: "ewa@example.com", question: "<script>alert(1)</script> & more" };
    const answer = await app.post(`/connect/connectors/${code}/contact`, params, { token: null });
    expect(answer.status).toBe(200);
    expect(received[0]?.to).toEqual(["office@example.com"]);
    expect(partsOf(received[0]?.raw ?? "")).toEqual(
      expect.arrayContaining([params.question, "<p>&lt;script&gt;alert(1)&lt;/script&gt; &amp; more</p>"]),
    );
    const missing = await app.post(`/connect/connectors/${code}/contact`, { name: "Ewa" }, { token: null });
    expect([missing.status, Object.keys(missing.json).toSorted()]).toEqual([422, ["email", "question"]]);
    const split = { ...params, email: "a@example.com\r\nBcc: b@example.com" };
    expect((await app.post(`/connect/connectors/${code}/contact`, split)).json).toHaveProperty("reply_to");
    const name = "x\r\nBcc: b@example.com";
    expect((await app.post(`/connect/connectors/${code}/contact`, { ...params, name })).json).toHaveProperty("subject");
    expect(received).toHaveLength(1);
  });

  test("takes events; `send` takes none, and is never public", async () => {
    const code = await connector({ fields: { methods } });
    const service = app.service(connectors);
    const event = {
      source_type: "Core::Record",
      kind: "create",
      data: { id: "7", name: "Ewa", email: "ewa@example.com" },
    };
    const call = { accountId: 1, code, event, idempotencyKey: "delivery-1" };
    expect(await service.callForEvent(call)).toMatchObject({ ok: true });
    await service.callForEvent(call);
    expect(received.map(({ raw }) => /^Message-ID: (.*)$/im.exec(raw)?.[1])).toEqual(
      Array(2).fill("<delivery-1@example.com>"),
    );
    const open = { ...event, data: { ...mail, to: "anybody@example.com" } };
    expect(await service.callForEvent({ accountId: 1, code: await connector(), event: open })).toBeUndefined();
    expect((await send(code, mail, { token: null })).status).toBe(401);
    expect(received).toHaveLength(2);
  });
});

test("a wrong definition is 422 that names what is wrong", async () => {
  const method = { to: "a@example.com", subject: "s", text: "t" };
  const wrong: [connector: object, field: string, text: string][] = [
    [{ url: "" }, "url", "blank"],
    [{ url: "https://example.com" }, "url", "smtp://"],
    [{ url: "smtp:example.com" }, "url", "smtp://"],
    [{ url: "smtp://" }, "url", "smtp://"],
    [{ url: "smtp://user:secret@example.com" }, "url", "user name"],
    [{ url: "smtp://example.com/path" }, "url", "port"],
    [{ url: "smtp://example.com?a=b" }, "url", "port"],
    [{ url: "smtp://example.com:99999" }, "url", "smtp://"],
    [{ kind: "core/mail" }, "kind", "core/smtp"],
    [{ secret_token: "a\nb" }, "secret_token", "one line"],
    [{ secret_token: null }, "fields", "secret_token"],
    [{ fields: { from: "x" } }, "fields", "user is required"],
    ...(
      [
        [{ user: 7 }, "user"],
        [{ user: "a\nb" }, "user"],
        [{ from: "nobody" }, "from"],
        [{ reply_to: "nobody" }, "reply_to"],
        [{ tls: "yes" }, "tls"],
        [{ ca: "x" }, "ca"],
        [{ servername: 1 }, "servername"],
        [{ methods: [] }, "methods must be"],
        [{ methods: { m: 7 } }, "methods.m must be"],
        [{ methods: { "a b": method } }, "methods.a b"],
        [{ methods: { send: method } }, "methods.send"],
        [{ methods: { m: { ...method, to: undefined } } }, "methods.m.to"],
        [{ methods: { m: { ...method, to: "x" } } }, "methods.m.to"],
        [{ methods: { m: { ...method, subject: "" } } }, "methods.m.subject"],
        [{ methods: { m: { ...method, subject: "a\nb" } } }, "methods.m.subject"],
        [{ methods: { m: { ...method, text: "" } } }, "methods.m.text"],
        [{ methods: { m: { ...method, html: {} } } }, "methods.m.html"],
        [{ methods: { m: { ...method, public: "yes" } } }, "methods.m.public"],
        [{ methods: { m: { ...method, public: true, to: "{email}" } } }, "methods.m.to must be a fixed"],
        [{ methods: { m: { ...method, public: true, bcc: "{email}" } } }, "methods.m.bcc must be a fixed"],
        [{ methods: { m: { ...method, public: true, from: "{email}" } } }, "methods.m.from must be a fixed"],
      ] as [object, string][]
    ).map(([fields, text]): [object, string, string] => [{ fields: { user: "mailer", ...fields } }, "fields", text]),
  ];
  const before = await traces(app, "connectors");
  for (const [given, field, text] of wrong) {
    const wrongOne = {
      name: "x",
      kind: "core/smtp",
      url: "smtp://mail.example.com",
      secret_token: "s",
      fields: { user: "u" },
      ...given,
    };
    const answer = await app.post("/connect/connectors.json", { connector: wrongOne });
    expect([given, answer.status, Object.keys(answer.json)]).toEqual([given, 422, [field]]);
    expect(answer.json[field].join("; ")).toContain(text);
  }
  expect(await traces(app, "connectors")).toEqual(before);
});

test("a flow sends mails, and its step has no secret", async () => {
  const code = await connector();
  const program = [
    { type: "connector", connector: code, method: "send", params: { ...mail, subject: "To {{ name }}" }, as: "sent" },
    { type: "return", value: "{{ sent.accepted[0] }}" },
  ];
  await app.post("/connect/flows.json", { flow: { name: "Mailing", code: "mailing", fields: { program } } });
  const { json } = await app.post("/connect/flows/mailing/run.json?wait=20", { name: "Ewa" });
  expect(json).toMatchObject({ status: "finished", data: "ewa@example.com" });
  await eventually(() => received.length === 1);
  expect(received[0]?.raw).toContain("Subject: To Ewa");
  expect(JSON.stringify(json)).not.toContain("0123456789");
});

test("the password is in no log line", () => {
  expect(app.logged.join("")).not.toContain(password);
});

test.each([
  ["blanks", `a${" ".repeat(2_000_000)}b`],
  ["backslashes", `"${"\\".repeat(2_000_001)}`],
  ["dots", `a@b${".".repeat(2_000_000)}`],
])("an address of very many %s is none, and is not looked through again and again", (_what, text) => {
  expect(parseAddress(text)).toBeUndefined();
});

import { describe, expect, test } from "bun:test";
import { sign } from "@octokit/webhooks-methods";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { Stripe } from "stripe";
import { verify, type Proof, type Verdict } from "./schemes.ts";

const plain: Proof = {
  scheme: "none",
  secret: null,
  algorithm: "sha256",
  encoding: "hex",
  header: null,
  idHeader: null,
  toleranceSeconds: 300,
};
const bytes = (text: string) => new TextEncoder().encode(text);
const check = (
  proof: Partial<Proof>,
  headers: Record<string, string>,
  body: string,
  now = new Date(),
): Promise<Verdict> => verify({ ...plain, ...proof }, { headers: new Headers(headers), body: bytes(body) }, now);
const refused = { refused: expect.any(String) };
const hmac = (algorithm: "sha1" | "sha256" | "sha512", secret: string, body: string, encoding: "hex" | "base64") =>
  new Bun.CryptoHasher(algorithm, secret).update(body).digest(encoding);

describe("samples that the services publish", () => {
  test("Standard Webhooks", async () => {
    const proof = { scheme: "standard", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" } as const;
    const headers = {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    };
    const now = new Date(1_614_265_330_000);
    expect(await check(proof, headers, '{"test": 2432232314}', now)).toEqual({ messageId: headers["webhook-id"] });
    expect(await check(proof, headers, '{"test": 2432232315}', now)).toEqual(refused);
  });

  test("GitHub", async () => {
    const signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    const headers = { "x-hub-signature-256": signature, "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958" };
    const proof = { scheme: "github", secret: "It's a Secret to Everybody" } as const;
    expect(await check(proof, headers, "Hello, World!")).toEqual({ messageId: headers["x-github-delivery"] });
    expect(await check(proof, headers, "Hello, world!")).toEqual(refused);
  });

  test("Slack", async () => {
    const body =
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar" +
      "&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com" +
      "%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN" +
      "&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    const headers = {
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    };
    const proof = { scheme: "slack", secret: "8f742231b10e8888abcd99yyyzzz85a5" } as const;
    expect(await check(proof, headers, body, new Date(1_531_420_618_000))).toEqual({ messageId: null });
    expect(await check(proof, headers, body, new Date(1_531_420_918_000))).toEqual({ messageId: null });
    expect(await check(proof, headers, body, new Date(1_531_420_919_000))).toEqual(refused);
    expect(await check(proof, headers, `${body}&a=1`, new Date(1_531_420_618_000))).toEqual(refused);
  });
});

describe("signatures that the services' own libraries make", () => {
  const body = JSON.stringify({ id: "evt_1", text: "zażółć" });

  test("Standard Webhooks, one of two secrets", async () => {
    const secret = `whsec_${btoa("a secret of twenty-four!")}`;
    const now = new Date();
    const headers = {
      "webhook-id": "msg_1",
      "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
      "webhook-signature": `v1,AAAA ${new Webhook(secret).sign("msg_1", now, body)}`,
    };
    const proof = { scheme: "standard", secret } as const;
    expect(await check(proof, headers, body)).toEqual({ messageId: "msg_1" });
    expect(await check({ ...proof, secret: `whsec_${btoa("another of twenty-four!!")}` }, headers, body)).toEqual(
      refused,
    );
    const late = new Date(now.getTime() + 301_000);
    expect(await check(proof, headers, body, late)).toEqual({ refused: expect.stringContaining("300 s are allowed") });
  });

  test("GitHub", async () => {
    const headers = { "x-hub-signature-256": await sign("a secret", body) };
    expect(await check({ scheme: "github", secret: "a secret" }, headers, body)).toEqual({ messageId: null });
  });

  test("Stripe", async () => {
    const secret = "whsec_test_secret";
    const header = await Stripe.webhooks.generateTestHeaderStringAsync({ payload: body, secret });
    const proof = { scheme: "stripe", secret } as const;
    expect(await check(proof, { "stripe-signature": header }, body)).toEqual({ messageId: "evt_1" });
    expect(await check({ ...proof, secret: "whsec_other" }, { "stripe-signature": header }, body)).toEqual(refused);
    // The time is signed too.
    const moved = header.replace(/t=\d+/, (time) => `t=${Number(time.slice(2)) + 1}`);
    expect(await check(proof, { "stripe-signature": moved }, body)).toEqual(refused);
  });
});

test.each(["sha1", "sha256", "sha512"] as const)(
  "hmac with %s, in hex and base64, by any header",
  async (algorithm) => {
    for (const encoding of ["hex", "base64"] as const) {
      const proof = {
        scheme: "hmac",
        secret: "key",
        algorithm,
        encoding,
        header: "x-my-sign",
        idHeader: "x-id",
      } as const;
      const value = hmac(algorithm, "key", "body", encoding);
      const headers = { "x-my-sign": value, "x-id": "7" };
      expect(await check(proof, headers, "body")).toEqual({ messageId: "7" });
      expect(await check(proof, { ...headers, "x-my-sign": `${algorithm}=${value}` }, "body")).toEqual({
        messageId: "7",
      });
      expect(await check(proof, headers, "body!")).toEqual(refused);
      expect(await check(proof, { "x-signature": value }, "body")).toEqual({ refused: "without x-my-sign" });
    }
  },
);

test("a token, with Bearer in front of it or without", async () => {
  const proof = { scheme: "token", secret: "a token" } as const;
  for (const authorization of ["a token", "Bearer a token", "bearer a token"])
    expect(await check(proof, { authorization }, "")).toEqual({ messageId: null });
  for (const authorization of ["a toke", "a token!", "Bearer ", ""])
    expect(await check(proof, { authorization }, "")).toEqual(refused);
  expect(await check({ ...proof, header: "x-token" }, { "x-token": "a token" }, "")).toEqual({ messageId: null });
  expect(await check({ ...proof, header: "x-token" }, { authorization: "a token" }, "")).toEqual(refused);
});

test("without a scheme everything is taken, and an id is still known", async () => {
  expect(await check({ idHeader: "x-id" }, { "x-id": "7" }, "")).toEqual({ messageId: "7" });
  expect(await check({ idHeader: "x-id" }, { "x-id": "7".repeat(256) }, "")).toEqual(refused);
});

test("headers of any text are refused, and throw nothing", async () => {
  const names = ["webhook-id", "webhook-timestamp", "webhook-signature", "stripe-signature", "x-slack-signature"];
  const more = ["x-slack-request-timestamp", "x-hub-signature-256", "x-signature", "authorization"];
  const value = fc.oneof(
    fc.stringMatching(/^[!-~]{0,40}$/),
    fc.constantFrom("v1,", "t=1,v1=", "v0=", "sha256=", "t=,v1=zz"),
  );
  const headers = fc.record(Object.fromEntries([...names, ...more].map((name) => [name, value])));
  const scheme = fc.constantFrom("standard", "github", "stripe", "slack", "hmac", "token");
  await fc.assert(
    fc.asyncProperty(scheme, headers, fc.string(), async (one, given, body) => {
      expect(await check({ scheme: one, secret: "an unknown secret of the test" }, given, body)).toEqual(refused);
    }),
    { numRuns: 300 },
  );
});

/** Calls of custom connectors: what is sent, what the answer becomes, and when a call is tried again. */
import { describe, expect, test } from "bun:test";
import { OutboundFault, type OutboundRequest, type OutboundResponse } from "../../runtime/outbound/outbound.ts";
import type { KindCall } from "./api.ts";
import { plainRequest } from "./plain.ts";
import { customConnector } from "./custom.ts";

interface Remote {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** A remote that gives these answers one after another, the last one for ever. */
function remoteOf(...answers: (Remote | Error)[]) {
  const requests: (OutboundRequest & { url: string })[] = [];
  const fetch = async (url: string | URL, request: OutboundRequest = {}): Promise<OutboundResponse> => {
    requests.push({ url: `${url}`, ...request });
    const answer = answers[Math.min(requests.length, answers.length) - 1] ?? {};
    if (answer instanceof Error) throw answer;
    const { status = 200, headers = {}, body = "" } = answer;
    const rest = { body: new Uint8Array(), truncated: false, durationMs: 1, address: "192.0.2.1" };
    return { status, headers: new Headers(headers), text: () => body, ...rest };
  };
  const call = (method: object, given: Partial<KindCall> = {}) => {
    const connector = {
      accountId: 1,
      code: "c",
      url: "https://api.test/v1",
      secret: null,
      fields: { methods: { go: method } },
    };
    return customConnector(fetch).call(connector, { method: "go", params: {}, timeoutMs: 60_000, ...given });
  };
  return { requests, call };
}

const json = "application/json; charset=utf-8";
const form = "application/x-www-form-urlencoded";
const bodies: [
  what: string,
  method: object,
  call: Partial<KindCall>,
  type: string | undefined,
  body: string | undefined,
][] = [
  ["no body", { method: "POST" }, {}, undefined, undefined],
  ["the event for a method without a body", { method: "POST" }, { fallbackBody: { id: 1 } }, json, '{"id":1}'],
  [
    "what no template names",
    { method: "POST", path: "/{id}" },
    { params: { id: 1, a: "x", n: 2 } },
    json,
    '{"a":"x","n":2}',
  ],
  [
    "the event before the parameters",
    { method: "PUT" },
    { params: { a: 1 }, fallbackBody: { id: 1 } },
    json,
    '{"id":1}',
  ],
  [
    "what no template names, as a form",
    { method: "PATCH", headers: { "content-type": "application/x-www-form-urlencoded" } },
    { params: { a: "x y", b: [1, 2], c: null } },
    "application/x-www-form-urlencoded",
    "a=x%20y&b=1&b=2",
  ],
  ["no body in a DELETE", { method: "DELETE" }, { params: { a: 1 } }, undefined, undefined],
  ["no event in a GET", {}, { fallbackBody: { id: 1 } }, undefined, undefined],
  ["no body in a HEAD", { method: "HEAD", body: { a: 1 } }, {}, undefined, undefined],
  ["an object", { method: "PUT", body: { a: "{a}" } }, { params: { a: null } }, json, '{"a":null}'],
  ["text that begins like JSON", { method: "POST", body: " [{a}]" }, { params: { a: "x" } }, json, ' ["x"]'],
  ["other text", { method: "POST", body: "a {a}" }, { params: { a: 1 } }, "text/plain; charset=utf-8", "a 1"],
  [
    "text of another type",
    { method: "POST", headers: { "Content-Type": "text/csv" }, body: "[{a}" },
    { params: { a: 1 } },
    "text/csv",
    "[1",
  ],
  [
    "JSON of a type of its own",
    { method: "PATCH", headers: { "content-type": "application/merge-patch+json" }, body: "{a}" },
    { params: { a: "x" } },
    "application/merge-patch+json",
    '"x"',
  ],
  [
    "a form as text",
    { method: "POST", headers: { "content-type": form }, body: "a={a}" },
    { params: { a: "1&b=2" } },
    form,
    "a=1%26b%3D2",
  ],
  [
    "a form as an object",
    { method: "POST", headers: { "content-type": form }, body: { a: "{a}", b: 1 } },
    { params: { a: ["x", "y"] } },
    form,
    "a=x&a=y&b=1",
  ],
];
test.each(bodies)("sends %s", async (_, method, given, type, body) => {
  const { requests, call } = remoteOf({});
  await call({ path: "/x", ...method }, given);
  expect([requests[0]?.headers?.["content-type"], requests[0]?.body]).toEqual([type, body]);
});

const keyed: [method: object, key: string | undefined][] = [
  [{ method: "POST" }, "k1"],
  [{ method: "PUT" }, "k1"],
  [{ method: "PATCH" }, "k1"],
  [{ method: "DELETE" }, "k1"],
  [{ method: "GET" }, undefined],
  [{ method: "HEAD" }, undefined],
  [{ method: "POST", headers: { "Idempotency-Key": "own" } }, "own"],
];
test.each(keyed)("the idempotency key of %j is %s", async (method, key) => {
  const { requests, call } = remoteOf({});
  await call({ path: "/x", ...method }, { idempotencyKey: "k1" });
  expect(requests[0]?.headers?.["idempotency-key"]).toBe(key);
  await call({ path: "/x", ...method });
  expect(requests[1]?.headers?.["idempotency-key"]).toBe(key === "own" ? "own" : undefined);
});

const answers: [what: string, remote: Remote, data: unknown][] = [
  ["JSON", { headers: { "content-type": "application/json" }, body: '{"a":1}' }, { a: 1 }],
  ["JSON of a type of its own", { headers: { "content-type": "application/problem+json" }, body: "7" }, 7],
  ["an object with another type", { headers: { "content-type": "text/plain" }, body: ' {"a":1}' }, { a: 1 }],
  ["a list without a type", { body: "[1]" }, [1]],
  ["a number as text", { headers: { "content-type": "text/plain" }, body: "7" }, "7"],
  ["text that only begins like JSON", { body: "[draft] hello" }, "[draft] hello"],
  ["lines of JSON", { headers: { "content-type": "application/x-ndjson" }, body: '{"a":1}\n{}' }, '{"a":1}\n{}'],
  ["nothing", { status: 204, headers: { "content-type": "application/json" } }, null],
];
test.each(answers)("an answer with %s", async (_, remote, data) => {
  const outcome = await remoteOf(remote).call({ path: "/x" });
  expect(outcome).toMatchObject({ ok: true, status: remote.status ?? 200, data, error: null, retryAfterSeconds: null });
});

const broken: [type: string, body: string][] = [
  ["application/json", '{"a":'],
  ["Application/JSON ; charset=utf-8", "<html>"],
  ["application/problem+json", "ok"],
];
test.each(broken)("an answer of the type %s that is %s is a failure, except to an event", async (type, body) => {
  const remote = { headers: { "content-type": type }, body };
  expect(await remoteOf(remote).call({ path: "/x" })).toMatchObject({
    ok: false,
    status: 200,
    data: body,
    error: "the remote's answer is not JSON, though its Content-Type says so",
  });
  const told = await remoteOf(remote).call({ method: "POST", path: "/x" }, { fallbackBody: {} });
  expect(told).toMatchObject({ ok: true, status: 200, data: body, error: null });
});

describe("an answer that is no success", () => {
  const faults: [remote: Remote | Error, outcome: object][] = [
    [
      { status: 404, headers: { "content-type": "application/json" }, body: "no" },
      { status: 404, data: "no", error: "the remote answered 404" },
    ],
    [
      { status: 404, body: "no" },
      { status: 404, data: "no", error: "the remote answered 404", retryAfterSeconds: null },
    ],
    [
      { status: 500, body: '{"e":1}' },
      { status: 500, data: { e: 1 }, error: "the remote answered 500" },
    ],
    [{ status: 304 }, { status: 304, data: null, error: "the remote answered 304" }],
    [
      { status: 429, headers: { "retry-after": "3600" } },
      { status: 429, retryAfterSeconds: 3600 },
    ],
    [
      { status: 503, headers: { "retry-after": "soon" } },
      { status: 503, retryAfterSeconds: null },
    ],
    [new OutboundFault("timeout", "no answer within 1 s"), { status: null, data: null, error: "no answer within 1 s" }],
  ];
  test.each(faults)("%j is told", async (remote, outcome) => {
    expect(await remoteOf(remote).call({ method: "POST", path: "/x" })).toMatchObject({ ok: false, ...outcome });
  });

  test("a fault that is none of the remote's is thrown", () => {
    expect(remoteOf(new TypeError("a defect")).call({ path: "/x" })).rejects.toThrow("a defect");
    expect(remoteOf({}).call({ path: "/x" }, { method: "other" })).rejects.toThrow("no method other");
  });

  const busy = { status: 503, headers: { "retry-after": "0" } };
  const again: [
    what: string,
    method: object,
    remotes: (Remote | Error)[],
    call: Partial<KindCall>,
    requests: number,
    ok: boolean,
  ][] = [
    ["a GET after 503", { method: "GET" }, [busy, {}], {}, 2, true],
    ["a PUT after 429", { method: "PUT" }, [{ ...busy, status: 429 }, {}], {}, 2, true],
    ["a DELETE twice at most", { method: "DELETE" }, [busy], {}, 3, false],
    ["no POST", { method: "POST" }, [busy, {}], {}, 1, false],
    ["no PATCH", { method: "PATCH" }, [busy, {}], {}, 1, false],
    ["no GET after 500", { method: "GET" }, [{ status: 500 }, {}], {}, 1, false],
    ["no GET without an answer", { method: "GET" }, [new OutboundFault("timeout", "late"), {}], {}, 1, false],
    [
      "no GET that is asked to wait for long",
      { method: "GET" },
      [{ status: 503, headers: { "retry-after": "11" } }, {}],
      {},
      1,
      false,
    ],
    [
      "no GET whose time is over by then",
      { method: "GET" },
      [{ status: 503, headers: { "retry-after": "5" } }, {}],
      { timeoutMs: 4000 },
      1,
      false,
    ],
  ];
  test.each(again)("%s is tried again", async (_, method, remotes, given, count, ok) => {
    const { requests, call } = remoteOf(...remotes);
    expect((await call({ path: "/x", ...method }, given)).ok).toBe(ok);
    expect(requests).toHaveLength(count);
  });
});

test.each<[string, unknown, string]>([
  [
    "https://a.example/x?y=1",
    { tag: ["new", "a&b"], none: null, deep: { a: 1 } },
    "?y=1&tag=new&tag=a%26b&deep=%7B%22a%22%3A1%7D",
  ],
  ["https://a.example/x?", {}, ""],
  ["https://a.example/x", undefined, ""],
])("a whole request to %s with the query %p asks for %s", (url, query, search) => {
  expect(plainRequest({ url, query }, undefined, undefined).url).toBe(`https://a.example/x${search}`);
});

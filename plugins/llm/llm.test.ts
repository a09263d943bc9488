/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { adminToken, eventually, person, startTestApp, type TestApp } from "../../tests/harness.ts";
import { eventStream, spoken, startModel, type ModelServer } from "../../tests/model-server.ts";
import { createLog } from "../../runtime/system/log.ts";
import { parseAllow } from "../../runtime/net/addresses.ts";
import { fetchOutside, type Fetch } from "../../runtime/outbound/outbound.ts";
import { connectors } from "../connectors/api.ts";
import { askModel } from "./ask.ts";
import { limits, serverOf } from "./chat.ts";

let app: TestApp;
let model: ModelServer;
const secret = "sk-model-key-of-the-tests";
const apis = ["openai", "anthropic"] as const;

beforeAll(async () => {
  app = await startTestApp();
  model = startModel();
  const http = { name: "http", code: "http", url: model.url, fields: { methods: { chat: { path: "/" } } } };
  expect((await app.post("/connect/connectors.json", { connector: http })).status).toBe(201);
  for (const api of apis) {
    for (const [code, timeout] of [
      [api, 60],
      [`${api}-hurried`, 0.3],
    ] as const) {
      const fields = { api, model: "double-1", timeout };
      const connector = { name: code, code, kind: "core/llm", url: model.url, secret_token: secret, fields };
      expect((await app.post("/connect/connectors.json", { connector })).status).toBe(201);
    }
  }
});
const standard = () => {
  model.requests.length = model.turns.length = 0;
  model.answer = (received) => spoken(received, model.turns.shift() ?? { text: "as you say", usage: [10, 3] });
};
beforeEach(standard);
afterAll(async () => {
  await app.stop();
  await model.stop();
});

const question = { messages: [{ role: "user", content: "What is the weather?" }] };
const usage = { input_tokens: 10, output_tokens: 3 };

/** As a conversation calls it: streamed. */
async function streamed(code: string, params: Record<string, unknown> = question) {
  const parts: string[] = [];
  const outcome = await app
    .service(connectors)
    .call({ accountId: 1, code, method: "chat", params, onText: (text) => void parts.push(text) });
  return { ...outcome, parts };
}

test("of three hundred calls at once a few reach the model, some wait, and the others are told to come later", async () => {
  const gate = Promise.withResolvers<void>();
  let [running, most] = [0, 0];
  model.answer = async (received) => {
    most = Math.max(most, ++running);
    await gate.promise;
    running -= 1;
    return spoken(received, { text: "as you say" });
  };
  const statuses: number[] = [];
  const calls = Array.from({ length: 300 }, async () => {
    const { status, headers } = await app.post("/connect/connectors/openai/chat", question);
    statuses.push(status);
    if (status === 429) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  });
  await eventually(() => statuses.length === 300 - limits.atOnce - 200 && running === limits.atOnce);
  expect(new Set(statuses)).toEqual(new Set([429]));
  gate.resolve();
  await Promise.all(calls);
  expect([most, statuses.filter((status) => status === 200).length]).toEqual([limits.atOnce, limits.atOnce + 200]);
});

test("a call of a flow waits for its turn until its own time is over", async () => {
  const gate = Promise.withResolvers<void>();
  model.answer = async (received) => {
    await gate.promise;
    return spoken(received, { text: "as you say" });
  };
  const call = (timeoutMs: number) =>
    app.service(connectors).call({ accountId: 1, code: "openai", method: "chat", params: question, timeoutMs, signal });
  const { signal } = new AbortController();
  const running = Array.from({ length: limits.atOnce }, () => call(60_000));
  await eventually(() => model.requests.length === limits.atOnce);
  const [patient, hurried] = [call(60_000), call(5)];
  expect(await hurried).toMatchObject({ ok: false, isBusy: true, error: expect.stringContaining("so many calls") });
  gate.resolve();
  expect((await Promise.all([...running, patient])).map((outcome) => outcome?.ok)).not.toContain(false);
});

describe.each(apis)("%s", (api) => {
  test("a call gives text, reason of the end and usage", async () => {
    const answer = await app.post(`/connect/connectors/${api}/chat`, {
      ...question,
      system: "Be short.",
      max_tokens: 50,
    });
    const data = { text: "as you say", tool_calls: [], stop: "end", model: "double-1", usage };
    expect([answer.status, answer.json]).toEqual([200, { status: 200, data }]);
    const [request] = model.requests;
    expect(request?.path).toBe(api === "openai" ? "/v1/chat/completions" : "/v1/messages");
    expect(request?.headers.get(api === "openai" ? "authorization" : "x-api-key")).toEndWith(secret);
    const content = api === "openai" ? "What is the weather?" : [{ type: "text", text: "What is the weather?" }];
    const told = { role: "user", content };
    expect(model.asked()).toEqual([
      api === "openai"
        ? { model: "double-1", max_tokens: 50, messages: [{ role: "system", content: "Be short." }, told] }
        : { model: "double-1", max_tokens: 50, system: "Be short.", messages: [told] },
    ]);
  });

  test("a stream gives the same, part by part", async () => {
    const { parts, ...outcome } = await streamed(api);
    expect(outcome).toMatchObject({ ok: true, data: { text: "as you say", stop: "end", usage }, usage });
    expect([parts.length > 1, parts.join("")]).toEqual([true, "as you say"]);
  });

  test.each([true, false])(
    "calls of its tools come back, and their results go there (streamed: %p)",
    async (stream) => {
      const call = { id: "call-1", name: "weather", arguments: { city: "Łódź" } };
      const tools = [{ name: "weather", description: "of a city", parameters: { type: "object" } }];
      model.turns.push({ calls: [call] }, { text: "21 °C" });
      const params = { ...question, tools };
      const first = stream
        ? await streamed(api, params)
        : (await app.post(`/connect/connectors/${api}/chat`, params)).json;
      expect(first.data).toMatchObject({ text: "", tool_calls: [call], stop: "tool_calls" });
      const messages = [
        ...question.messages,
        { role: "assistant", content: "", tool_calls: [call] },
        { role: "tool", tool_call_id: "call-1", content: "21" },
      ];
      expect((await app.post(`/connect/connectors/${api}/chat`, { messages, tools })).json.data.text).toBe("21 °C");
      const [, , third] = Object(model.asked()[1])["messages"];
      expect(third).toEqual(
        api === "openai"
          ? { role: "tool", tool_call_id: "call-1", content: "21" }
          : { role: "user", content: [{ type: "tool_result", tool_use_id: "call-1", content: "21" }] },
      );
    },
  );

  test("a tool that was not offered fails the call", async () => {
    model.turns.push({ calls: [{ id: "1", name: "delete_all", arguments: {} }] });
    const answer = await app.post(`/connect/connectors/${api}/chat`, question);
    expect([answer.status, answer.json.error]).toEqual([
      502,
      'the model called the tool "delete_all", which it was not given',
    ]);
  });
});

const endless = (part: string) =>
  new ReadableStream({
    pull: async (stream) => {
      stream.enqueue(new TextEncoder().encode(part));
      await Bun.sleep(0);
    },
  });
const chunk = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
/** One call after the other, without a number. */
const calling = `data: ${JSON.stringify({ choices: [{ delta: { tool_calls: [{ id: "x", function: { name: "x" } }] } }] })}\n\n`;
const bad: [what: string, answer: () => Response | Promise<Response>, error: string, code?: string][] = [
  [
    "a refusal",
    () => Response.json({ error: { message: "no such key" } }, { status: 401 }),
    "answered 401: no such key",
  ],
  ["a refusal without words", () => new Response("", { status: 429 }), "answered 429: it asks for a pause"],
  ["no JSON", () => new Response("<html>"), "what is not JSON"],
  ["JSON of another kind", () => Response.json([1, 2]), "empty, or not in the protocol"],
  ["a stream without JSON", () => new Response("data: {nonsense\n\n", eventStream), "an event that is not JSON"],
  ["a stream that is cut off", () => new Response(chunk("half"), eventStream), "broke off before its end"],
  [
    "an error in the middle",
    () => new Response(`${chunk("half")}data: {"error":{"message":"overloaded"}}\n\n`, eventStream),
    "broke off: overloaded",
  ],
  ["gigabytes of text", () => new Response(endless("x".repeat(500_000)), eventStream), "more than 5000000 bytes"],
  [
    "gigabytes in events",
    () => new Response(endless(chunk("x".repeat(50_000))), eventStream),
    "more than 5000000 bytes",
  ],
  ["calls without end", () => new Response(endless(calling), eventStream), "called more than 64 tools at once"],
  ["nothing, ever", () => new Promise(() => {}), "no complete answer in time", "openai-hurried"],
  [
    "a stream that never ends",
    () => new Response(new ReadableStream({ pull: () => new Promise(() => {}) }), eventStream),
    "no complete answer in time",
    "openai-hurried",
  ],
  ["a redirect elsewhere", () => Response.redirect("http://169.254.169.254/"), "redirects to another origin"],
];
test.each(bad)("a model that gives %s is an error in words", async (_, answer, error, code = "openai") => {
  model.answer = answer;
  const outcome = await streamed(code);
  expect(outcome).toMatchObject({ ok: false, data: null, error: expect.stringContaining(error) });
});

test("a model that repeats its key in parts does not give it away", async () => {
  model.turns.push({ text: `the key is ${secret}, sk-mo` });
  const { parts, data } = await streamed("openai");
  expect([parts.join(""), Object(data)["text"]]).toEqual(["the key is [secret], sk-mo", "the key is [secret], sk-mo"]);
});

test("a model on this machine is reached only by OUTBOUND_ALLOW, and the error says so", async () => {
  const outside = { allow: parseAllow(""), log: createLog("error", () => {}) };
  const send: Fetch = (url, request) => fetchOutside(outside, url, request);
  const server = serverOf("http://127.0.0.1:11434/v1", { api: "openai", model: "llama" });
  const chat = { system: "", messages: [], tools: [], schema: undefined, maxTokens: 1, temperature: undefined };
  const { error } = await askModel(send, server, chat, { secret: null, timeoutMs: 5000 });
  expect(error).toContain("needs OUTBOUND_ALLOW=127.0.0.1:11434");
});

const wrong: [fields: object, url: string, key: string, says: string][] = [
  [{ model: "m" }, "https://a.example", "fields", "api must be openai or anthropic"],
  [{ api: "gemini", model: "m" }, "https://a.example", "fields", "api must be"],
  [{ api: "openai" }, "https://a.example", "fields", "model is required"],
  [{ api: "openai", model: "m", timeout: 181 }, "https://a.example", "fields", "timeout must be"],
  [{ api: "openai", model: "m", max_tokens: 0.5 }, "https://a.example", "fields", "max_tokens must be"],
  [{ api: "openai", model: "m" }, "ftp://a.example", "url", "http or https"],
  [{ api: "openai", model: "m" }, "https://u:p@a.example", "url", "secret_token"],
  [{ api: "openai", model: "m" }, "", "url", "can't be blank"],
];
test.each(wrong)("a connector with %j at %s is refused", async (fields, url, key, says) => {
  const { status, json } = await app.post("/connect/connectors.json", {
    connector: { name: "Wrong", kind: "core/llm", url, fields },
  });
  expect([status, json[key]]).toEqual([422, [expect.stringContaining(says)]]);
});

const message = { role: "user", content: "a" };
const wrongCalls: [key: string, says: string, params: object][] = [
  ["messages", "is required", {}],
  ["messages", "must be a list", { messages: "hello" }],
  ["messages", "[0] role must be", { messages: [{ role: "system", content: "a" }] }],
  ["messages", "[0] content must be a text", { messages: [{ role: "user", content: 7 }] }],
  ["messages", "tool_call_id", { messages: [{ role: "tool", content: "a" }] }],
  ["messages", "1000000 characters", { messages: [{ role: "user", content: "x".repeat(1_000_001) }] }],
  ["schema", "schema.type must be of", { messages: [message], schema: { type: "thing" } }],
  ["schema", "not supported", { messages: [message], schema: { pattern: "(a+)+" } }],
  ["tools", "[0] name", { messages: [message], tools: [{ name: "a b" }] }],
  ["max_tokens", "whole number", { messages: [message], max_tokens: -1 }],
  ["temperature", "from 0 to 2", { messages: [message], temperature: 3 }],
  ["prompt", "code", { prompt: 7 }],
];
test.each(wrongCalls)("a call is refused by its %s: %s", async (key, says, params) => {
  const { status, json } = await app.post("/connect/connectors/openai/chat", params);
  expect([status, json[key]]).toEqual([422, [expect.stringContaining(says)]]);
  expect(model.requests).toHaveLength(0);
});

describe("a conversation", () => {
  const body = { connector: "openai", messages: [{ role: "user", content: "Hi" }] };
  const prompt = { name: "Talk", code: "talk", kind: "chat", content: "Be kind to {{ client }}.{{ TOKEN }}" };
  let id: string;
  beforeAll(async () => {
    id = (await app.post("/core/prompts.json", { prompt })).json.id;
    const agent = { name: "Do", code: "do", kind: "agent", content: "x" };
    expect((await app.post("/core/prompts.json", { prompt: agent })).status).toBe(201);
  });
  const eventsOf = (text: string) =>
    [...text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)].map(([, name, data = ""]) => [name, JSON.parse(data)]);

  test.each(["by the prompt's id", "by its code"])("is streamed and ends with its usage: %s", async (by) => {
    const variables = { client: "Ewa" };
    const answer = await app.post(`/core/prompts/${by.endsWith("id") ? id : "talk"}/chat`, { ...body, variables });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    const events = eventsOf(answer.text);
    const said = events.flatMap(([name, data]) => (name === "text" ? [data.text] : []));
    expect([said.length > 1, said.join("")]).toEqual([true, "as you say"]);
    expect(events.at(-1)).toEqual(["end", { stop: "end", model: "double-1", usage }]);
    // A model never gets a token.
    expect(model.asked()[0]).toMatchObject({
      stream: true,
      messages: [
        { role: "system", content: "Be kind to Ewa." },
        { role: "user", content: "Hi" },
      ],
    });
  });

  test("names variables that its prompt does not use", async () => {
    const told = async (variables: object) =>
      (await app.post("/core/prompts/talk/chat", { ...body, variables })).headers.get("warning")?.replaceAll("\\", "");
    expect(await told({ client: "Ewa" })).toBeUndefined();
    expect(await told({ cleint: "Ewa" })).toBe('299 - "the prompt does not use "cleint": did you mean "client"?"');
  });

  test("has the text of an app before that of the prompt", async () => {
    const make = async (url_code: string, more: object) => {
      const fields = { name: "Shelf", url_code, app_engine: "html", source_code: "<p>x</p>", ...more };
      return (await app.post("/core/apps.json", { app: fields })).json.id;
    };
    const app_id = await make("shelf", { prompt: "You know shelves." });
    const variables = { client: "Ewa" };
    expect((await app.post("/core/prompts/talk/chat", { ...body, variables, app_id })).status).toBe(200);
    const system = { role: "system", content: "You know shelves.\n\nBe kind to Ewa." };
    expect(model.asked()[0]).toMatchObject({ messages: [system, { role: "user", content: "Hi" }] });
    for (const other of [crypto.randomUUID(), await make("bare", {})])
      expect(await app.post("/core/prompts/talk/chat", { ...body, app_id: other })).toMatchObject({
        status: 422,
        json: { app_id: [expect.any(String)] },
      });
    const { token } = await person(app, { role: "guest", privileges: ["flows"] });
    expect((await app.post("/core/prompts/talk/chat", { ...body, app_id }, { token })).status).toBe(403);
  });

  test("ends with the error in words", async () => {
    model.answer = () => Response.json({ error: { message: "no credit" } }, { status: 429 });
    const { status, text } = await app.post("/core/prompts/talk/chat", body);
    expect([status, eventsOf(text)]).toEqual([
      200,
      [["error", { error: "the model's server answered 429: no credit" }]],
    ]);
  });

  test("stops the model when the reader goes away", async () => {
    const gone = Promise.withResolvers<void>();
    model.answer = () =>
      new Response(
        new ReadableStream({ start: (c) => c.enqueue(chunk("one")), cancel: () => gone.resolve() }),
        eventStream,
      );
    const stop = new AbortController();
    const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body), signal: stop.signal };
    const response = await fetch(`${app.origin}/core/prompts/talk/chat`, init);
    const reader = response.body?.getReader();
    let text = "";
    while (!text.includes("one")) text += new TextDecoder().decode((await reader?.read())?.value);
    stop.abort();
    await gone.promise;
  });

  const refused: [what: string, path: string, body: object, status: number, says: string][] = [
    ["an unknown prompt", "nothing", body, 404, "not found"],
    ["an agent's prompt", "do", body, 422, "agent"],
    ["an unknown connector", "talk", { ...body, connector: "nothing" }, 422, "connector"],
    ["a connector of another kind", "talk", { ...body, connector: "http" }, 422, "connector"],
    ["no question", "talk", { ...body, messages: [{ role: "assistant", content: "Hi" }] }, 422, "messages"],
    ["a system's message", "talk", { ...body, messages: [{ role: "system", content: "Hi" }] }, 422, "messages"],
  ];
  test.each(refused)("with %s is refused", async (_, path, given, status, says) => {
    const answer = await app.post(`/core/prompts/${path}/chat`, given);
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(says)]);
    expect(model.requests).toHaveLength(0);
  });

  test("needs the privilege of connectors", async () => {
    const { token } = await person(app, { role: "admin", narrowedTo: ["prompts"] });
    expect((await app.post("/core/prompts/talk/chat", body, { token })).status).toBe(403);
  });
});

describe("a flow", () => {
  const schema = {
    type: "object",
    properties: { topic: { enum: ["order", "complaint"] } },
    required: ["topic"],
    additionalProperties: false,
  };
  const run = async (steps: object[]) => {
    const program = [...steps, { type: "return", value: "{{ answer.json.topic }}" }];
    const flow = { name: "Sort", code: `sort-${crypto.randomUUID()}`, fields: { program } };
    expect((await app.post("/connect/flows.json", { flow })).status).toBe(201);
    const started = await app.post(`/connect/flows/${flow.code}/run.json`, { text: "My parcel is broken!" });
    return eventually(async () => {
      const { json } = await app.get(`/connect/flow_processes/${started.json.id}.json`);
      return json.status === "pending" ? undefined : json;
    });
  };
  const step = (params: object) => ({ type: "connector", connector: "openai", method: "chat", params, as: "answer" });

  test("asks with a prompt of the account and gets JSON by a schema; a wrong answer is asked for again", async () => {
    const prompt = { name: "Sort", code: "sort", content: "Sort this: {{ text }}{{ TOKEN }}" };
    expect((await app.post("/core/prompts.json", { prompt })).status).toBe(201);
    model.turns.push({ text: '{"topic":"parcel"}', usage: [20, 5] });
    model.turns.push({ text: '```json\n{"topic":"complaint"}\n```', usage: [30, 6] });
    const ended = await run([
      step({ prompt: "sort", variables: { text: "{{ input.text }}" }, schema }),
      { ...step({ messages: [{ role: "user", content: "hi" }] }), as: "other" },
    ]);
    expect(ended).toMatchObject({ status: "finished", data: "complaint" });
    const [first, second] = model.asked();
    expect(first).toMatchObject({
      response_format: { json_schema: { schema } },
      messages: [{ role: "system" }, { role: "user", content: "Sort this: My parcel is broken!" }],
    });
    expect(JSON.stringify(second)).toContain("topic must be one of");
    // What it has cost: of each step, and of all together.
    expect(ended.steps.map((one: { usage?: object }) => one.usage)).toEqual([
      { input_tokens: 50, output_tokens: 11 },
      usage,
      undefined,
    ]);
    expect(ended.usage).toEqual({ input_tokens: 60, output_tokens: 14 });
  });

  test("fails after a second wrong answer, and both are counted", async () => {
    model.turns.push({ text: "no JSON at all" }, { text: '{"topic":"order","more":1}' });
    const ended = await run([step({ messages: [{ role: "user", content: "{{ input.text }}" }], schema })]);
    expect(ended).toMatchObject({
      status: "error",
      error: "the answer does not fit the schema: more must not be there",
      usage: { input_tokens: 20, output_tokens: 6 },
    });
  });

  test("says which prompt it cannot find", async () => {
    const ended = await run([step({ prompt: "unknown" })]);
    expect(ended).toMatchObject({
      status: "error",
      error: "prompt is not the code of a prompt of the account: unknown",
    });
    expect("usage" in ended).toBe(false);
  });
});

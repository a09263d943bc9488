import { describe, expect, test } from "bun:test";
import { clientsOf, masked, tokenIn, withoutSecrets, withTask, createEventParser } from "./agent.ts";
import { choicesOf, firstChoice, appChoice } from "./choices.ts";
import { contextOf, singular } from "./context.ts";
import { askedText, callsOf, resultText, ruleOf, subjectOf, toolsOf, type Rule } from "./tools.ts";

describe("the context of a page", () => {
  const cases: [pattern: string, path: string, search: string, context: Record<string, string>][] = [
    ["core/prompts/:id", "/core/prompts/7", "?tab=edit", { prompt_id: "7", page_query: "tab=edit" }],
    ["core/prompts", "/core/prompts", "", {}],
    ["core/prompts/:id", "/core/prompts/new", "", {}],
    ["/account/teams", "/account/teams/3", "", { team_id: "3" }],
    ["/connect/flow_processes", "/connect/flow_processes/a", "", { flow_process_id: "a" }],
    [
      "core/dbs/:db_id/records",
      "/core/dbs/or%20ders/records",
      "?open=r1&table=box",
      { db_id: "or ders", record_id: "r1", table_name: "box", page_query: "open=r1&table=box" },
    ],
    ["connect/flows/:code", "/connect/flows/ship", "", { flow_code: "ship" }],
    ["", "", "", {}],
  ];
  test.each(cases)("%s at %s%s", (pattern, path, search, context) => {
    const looking = { path, search, pattern, title: "T", record: undefined };
    expect(contextOf(looking)).toEqual({ ...context, page: path, page_title: "T" });
  });

  test("has what the page shows, cut where it is long", () => {
    const looking = { path: "/a", search: "", pattern: "a", title: "T" };
    expect(contextOf({ ...looking, record: { a: 1 } })["record"]).toBe('{"a":1}');
    expect(contextOf({ ...looking, record: "x".repeat(50_000) })["record"]?.length).toBe(20_001);
  });

  test.each([
    ["entries", "entry"],
    ["processes", "process"],
    ["boxes", "box"],
    ["dbs", "db"],
    ["flow-steps", "flow_step"],
  ])("%s: %s", (word, one) => expect(singular(word)).toBe(one));
});

describe("the choice of prompts", () => {
  const stored = [
    { id: "1", code: "talk", name: "Talk", kind: "chat", scope: "account", ai_placeholder: null },
    { id: "2", code: "talk", name: "My talk", kind: "agent", scope: "user", ai_placeholder: "Say it" },
    { id: "3", code: "talk_extra", name: "More", kind: "chat", scope: "account" },
  ];
  const builtIn = [
    { code: "dbs_api", name: "Databases", kind: "chat" },
    { code: "ai_chat", name: "Ask", kind: "chat" },
    { code: "talk", name: "Old talk", kind: "chat" },
  ];
  const choices = choicesOf(stored, builtIn);
  test("has one of each code, as the cascade finds it, without instructions and additions", () => {
    expect(choices).toEqual([
      { code: "ai_chat", name: "Ask", kind: "chat", placeholder: "", ids: [] },
      { code: "talk", name: "My talk", kind: "agent", placeholder: "Say it", ids: ["2", "1"] },
    ]);
  });
  test("begins with the app whose page it is, if it has a prompt", () => {
    const found = [...appChoice({ prompt: "You know shelves." }, "a1", "This app"), ...choices];
    expect(firstChoice(found, "a1", "talk")).toMatchObject({ name: "This app", code: "a1", isApp: true });
    for (const [record, id] of [
      [{ prompt: " " }, "a1"],
      [{ prompt: null }, "a1"],
      [undefined, "a1"],
      [{ prompt: "x" }, undefined],
    ] as const)
      expect(appChoice(record, id, "This app")).toEqual([]);
  });
  test.each([
    ["1", "ai_chat", "talk"],
    ["9", "talk", "talk"],
    [undefined, "gone", "ai_chat"],
  ])("begins with the one of the page %p, else the last one %p: %p", (id, last, code) => {
    expect(firstChoice(choices, id, last)?.code).toBe(code);
  });
});

test("events are read however they are cut", () => {
  const text =
    ':\n\nevent: text\ndata: {"text":"a\\n\\nb"}\n\nevent: end\ndata: {"stop":"end"}\n\nevent: x\ndata: nonsense\n\n';
  for (const size of [1, 7, 1000]) {
    const parse = createEventParser();
    const parts = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    expect(parts.flatMap(parse)).toEqual([
      { name: "text", data: { text: "a\n\nb" } },
      { name: "end", data: { stop: "end" } },
    ]);
  }
});

test("tokens are hidden, and copied whole", () => {
  const token = "core_0123456789abcdefABCDEF";
  const text = withTask(`Authorization: Bearer ${token}\n`, " Do it ");
  expect(text).toBe(`Authorization: Bearer ${token}\n\nDo it\n`);
  expect([tokenIn(text), masked(text)]).toEqual([token, "Authorization: Bearer core_…\n\nDo it\n"]);
  expect(tokenIn("core_api and core_")).toBeUndefined();
  const read = `core_orders_of_customers core_${"x".repeat(42)} "whsec_${btoa("x".repeat(24))}"`;
  expect(withoutSecrets(read)).toBe('core_orders_of_customers core_… "whsec_…"');
  for (const { line } of clientsOf("https://a.example", token)) {
    expect([line.includes(token), line.includes("https://a.example/mcp"), masked(line).includes(token)]).toEqual([
      true,
      true,
      false,
    ]);
  }
});

describe("the tools of a run", () => {
  const listed = {
    tools: [
      { name: "list", description: "Lists", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
      { name: "create", annotations: { destructiveHint: false } },
      { name: "delete", annotations: { destructiveHint: true } },
      { name: "flow_a.b" },
    ],
  };
  const tools = toolsOf(listed);
  test("are those whose names models take", () => {
    expect(tools.map(({ name }) => name)).toEqual(["list", "create", "delete"]);
    expect(toolsOf({ tools: "x" })).toEqual([]);
  });
  const rules: [tool: string, chosen: Rule | undefined, rule: Rule][] = [
    ["list", undefined, "always"],
    ["list", "never", "never"],
    ["create", undefined, "ask"],
    ["create", "always", "always"],
    ["create", "never", "never"],
    ["delete", "always", "ask"],
    ["unknown", "always", "never"],
  ];
  test.each(rules)("%s, for which %p was chosen: %s", (name, chosen, rule) => {
    const tool = tools.find((one) => one.name === name);
    expect(ruleOf(tool, name, new Map(chosen ? [[name, chosen]] : []))).toBe(rule);
  });
  test.each([
    [{ resource: "prompts", fields: { in: "x" } }, "create prompts"],
    [{ resource: "records", in: "orders" }, "create records orders"],
    [{ resource: "webhooks\u202e", in: "a b" }, "create"],
    [{ resource: ["webhooks"] }, "create"],
    ["prompts", "create"],
  ])("a rule for %j is one for %s", (given, subject) => {
    expect(subjectOf({ id: "1", name: "create", arguments: given })).toBe(subject);
  });
  test("are shown whole before they are allowed, and nothing in them is unseen", () => {
    const text = (given: unknown) => askedText({ id: "1", name: "create", arguments: given });
    const token = `core_${"x".repeat(40)}`;
    expect(text({ a: token })).toBe(`{\n  "a": "${token}"\n}`);
    expect(text({ a: "pay\u202eelif\u200b\u00a0\u3164\u{e0041}\u0085 ł🙂\u2028" })).toContain(
      "pay\\u202eelif\\u200b\\u00a0\\u3164\\udb40\\udc41\\u0085 ł🙂\\u2028",
    );
    expect(text({ a: "x".repeat(200_000) })).toHaveLength(200_013);
    expect(text({ a: "x".repeat(300_000) })).toBeUndefined();
  });
  test("have results that a model reads, cut where they are long", () => {
    const content = [{ type: "text", text: "x".repeat(70_000) }];
    expect(resultText({ content, isError: true })).toMatchObject({ failed: true });
    expect(resultText({ content }).text.length).toBe(60_001);
    expect(resultText(null)).toEqual({ text: "", failed: false });
    expect(callsOf({ tool_calls: [{ id: 1, name: "a" }, 7] })).toEqual([{ id: "1", name: "a", arguments: {} }]);
  });
});

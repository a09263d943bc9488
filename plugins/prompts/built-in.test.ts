import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { plugins } from "../index.ts";
import { createLiquid } from "../../runtime/liquid/liquid.ts";
import { builtInPrompts } from "./built-in.ts";
import { outsidePrompts } from "./render.ts";
import { parseFrontMatter } from "./front-matter.ts";
import { tokenMisuse } from "./token-flow.ts";

describe("front matter", () => {
  const cases: [string, string, object][] = [
    ["a name", "---\nname: Work\n---\nText", { name: "Work", placeholder: null, text: "Text" }],
    ["a placeholder", "---\nname: A\nplaceholder: b: c\n---\n\n\nT\n", { name: "A", placeholder: "b: c", text: "T\n" }],
    [
      "another order, other keys",
      "---\nx: 1\nplaceholder: p\nname: A\n---\n",
      { name: "A", placeholder: "p", text: "" },
    ],
    ["quotes", "---\nname: \"A: b\"\nplaceholder: 'c'\n---\nT", { name: "A: b", placeholder: "c", text: "T" }],
    ["blanks and empty lines", "--- \n\nname:   A  \n\n---\t\nT", { name: "A", placeholder: null, text: "T" }],
    ["lines of Windows", "---\r\nname: A\r\n---\r\nT\r\nU", { name: "A", placeholder: null, text: "T\nU" }],
    ["a byte order mark", "\uFEFF---\nname: A\n---\nT", { name: "A", placeholder: null, text: "T" }],
    ["a rule further down", "---\nname: A\n---\nT\n---\nU", { name: "A", placeholder: null, text: "T\n---\nU" }],
    ["the first of two names", "---\nname: A\nname: B\n---\n", { name: "A", placeholder: null, text: "" }],
    ["an empty placeholder", "---\nname: A\nplaceholder:\n---\nT", { name: "A", placeholder: null, text: "T" }],
  ];
  test.each(cases)("%s", (_, file, expected) => expect(parseFrontMatter(file)).toEqual(expected as never));

  const plain: [string, string][] = [
    ["no block", "Text\n---\nname: A\n---"],
    ["one that is not closed", "---\nname: A\nText"],
    ["one without a name", "---\nplaceholder: A\n---\nText"],
    ["one with an empty name", "---\nname:\n---\nText"],
    ["rules around a text", "---\nname: A\nThis is a text.\n---\nText"],
    ["more dashes", "----\nname: A\n----\nText"],
    ["nothing", ""],
  ];
  test.each(plain)("%s is all text", (_, file) =>
    expect(parseFrontMatter(file)).toEqual({ name: null, placeholder: null, text: file }),
  );

  test("gives back what was written", () => {
    const value = fc.stringMatching(/^[A-Za-zżółć{}:#-][^\r\n"']{0,30}$/u).map((text) => text.trim());
    const text = fc.string({ maxLength: 200 }).map((body) => body.replaceAll("\r", "").trimStart());
    fc.assert(
      fc.property(value, value, text, (name, placeholder, body) => {
        fc.pre(name !== "" && placeholder !== "");
        const file = `---\nname: ${name}\nplaceholder: ${placeholder}\n---\n\n${body}`;
        expect(parseFrontMatter(file)).toEqual({ name, placeholder, text: body });
      }),
    );
  });

  test("never throws, and never loses a text", () => {
    const line = fc.constantFrom("---", "name: a", "placeholder: b", "", "text", " ", "-- -", "name:", "x: y", "# h");
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const file = lines.join("\n");
        const { name, text } = parseFrontMatter(file);
        expect(file.endsWith(text)).toBe(true);
        if (name === null) expect(text).toBe(file);
      }),
    );
  });
});

describe("built-in prompts", () => {
  const plugin = (name: string, prompts: Record<string, string>) => ({ name, prompts });

  test("are found in every plugin's folder, an agent's before another", () => {
    const found = builtInPrompts([
      plugin("a", { "x.md": "chat", "y.agent.md": "agent of y", "z.md": "z" }),
      plugin("b", { "x.agent.md": "---\nname: X\n---\nagent", "y.md": "chat of y", "__proto__.md": "p" }),
    ]);
    expect(found.get("x")).toMatchObject({ kind: "agent", name: "X", text: "agent" });
    expect(found.get("y")).toMatchObject({ kind: "agent", text: "agent of y" });
    expect(found.get("z")).toMatchObject({ kind: "chat", name: null, file: "z" });
    expect(found.get("__proto__")?.text).toBe("p");
    expect(found.has("constructor")).toBe(false);
  });

  test("of one name in two plugins stop the start, and both are named", () => {
    const twice = [plugin("a", { "x.md": "" }), plugin("b", { "x.md": "" })];
    expect(() => builtInPrompts(twice)).toThrow(/"a" and "b" both have the prompt x.md/);
    expect(() => builtInPrompts([plugin("a", { "x.txt": "" })])).toThrow(/"a".*x.txt/);
  });

  test("of ours have a name, are templates and keep the token out of addresses", () => {
    const liquid = createLiquid();
    liquid.registerFilter("prompt_url", outsidePrompts);
    liquid.registerFilter("api_block", outsidePrompts);
    const found = builtInPrompts(plugins);
    expect([...found.keys()]).toEqual(expect.arrayContaining(["prompts_api", "common_api"]));
    for (const [code, { name, text }] of found) {
      expect({ code, name, misuse: tokenMisuse(liquid.parse(text).nodes) }).toEqual({
        code,
        name: expect.any(String),
        misuse: undefined,
      });
    }
  });
});

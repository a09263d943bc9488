import { describe, expect, test } from "bun:test";
import { LiquidFault } from "platform";
import { createSiteEngine, type Rendering } from "./engine.ts";

const engine = createSiteEngine();

function rendering(more: Partial<Rendering> = {}): Rendering {
  const nothing = {
    paragraph: () => undefined,
    paragraphs: () => [],
    block: () => undefined,
    picture: () => undefined,
    pageUrl: () => "",
  };
  return { timezone: "Europe/Warsaw", locale: "pl", usesClock: false, usesChance: false, ...nothing, ...more };
}

const render = (source: string, more: Partial<Rendering> = {}) =>
  engine.render(engine.parse(source), {}, rendering(more));

function kindOf(source: string): string {
  try {
    render(source);
    return "rendered";
  } catch (error) {
    if (!(error instanceof LiquidFault)) throw error;
    return error.kind;
  }
}

describe("what a template needs is known before it is rendered:", () => {
  test("paragraphs and blocks, however deep they stand", () => {
    const { paragraphs, allParagraphs, blocks } = engine.parse(
      '{% if a %}{% paragraph "x" %}{% for b in c %}{% articles category="n" %}{% list %}{% paragraph \'y\' %}{% endarticles %}{% endfor %}{% else %}{% paragraphs %}{% endif %}',
    );
    expect([...paragraphs].toSorted()).toEqual(["x", "y"]);
    expect(allParagraphs).toBe(true);
    expect(blocks.map(({ categories }) => categories)).toEqual([["n"]]);
  });
  test("the same text is parsed once, and says the same again", () => {
    const source = "{% paragraph 'once' %}";
    expect(engine.parse(source)).toBe(engine.parse(source));
    expect(engine.parse(source).paragraphs.has("once")).toBe(true);
  });
});

describe("a rendering says what its text depends on:", () => {
  test.each([
    ["{{ 'now' | date: '%Y' }}", true, false],
    ["{{ 'today' | date: '%Y' }}", true, false],
    ["{{ '2026-01-01' | date: '%Y' }}", false, false],
    ["{{ 'a,b' | split: ',' | sample }}", false, true],
    ["{{ 'a,b' | split: ',' | first }}", false, false],
  ])("%s", (source, clock, chance) => {
    const own = rendering();
    engine.render(engine.parse(source), {}, own);
    expect([own.usesClock, own.usesChance]).toEqual([clock, chance]);
  });
});

test("a rendering that begins within another one marks only itself, and answers its own tags", () => {
  const printed = (text: string) => ({ nodes: engine.parse(text).template.nodes, values: Object.create(null) });
  const inner = rendering({ paragraph: () => printed("inner") });
  let within = "";
  const outer = rendering({
    paragraph: (code) => {
      within = engine.render(engine.parse("{% paragraph 'x' %} {{ 'now' | date: '%Y' | size }}"), {}, inner);
      return printed(`outer ${code}`);
    },
  });
  const text = engine.render(engine.parse("{% paragraph 'a' %}, {% paragraph 'b' %}"), {}, outer);
  expect([text, within]).toEqual(["outer a, outer b", "inner 4"]);
  expect([outer.usesClock, inner.usesClock]).toEqual([false, true]);
});

describe("blocks of one template are limited, and the first one too many is named by its place:", () => {
  const list = (args: string) => `{% articles ${args} %}{% list %}{% endarticles %}\n`;
  test.each([
    ["twenty", list("").repeat(20), []],
    ["twenty-one", list("").repeat(21), ["line 21, column 1: a template holds at most 20 `articles` blocks"]],
    ["one with parts", list("paginate=2") + list(""), []],
    [
      "two with parts",
      `${list("paginate=2")} ${list("paginate=3")}`,
      ["line 2, column 2: one `articles` block of a template may have paginate"],
    ],
  ])("%s", (_, source, mistakes) => {
    expect(engine.mistakes(source)).toEqual(mistakes);
    // The parsed text is kept, and is refused again.
    expect(engine.mistakes(source)).toEqual(mistakes);
  });
});

describe("sites have less to use up than other templates:", () => {
  const loop = (body: string) => `{% for i in (1..1000000) %}${body}{% endfor %}`;
  test.each([
    ["a long loop", "{% for i in (1..30000) %}{{ i }}x{% endfor %}"],
    ["an endless loop", loop(loop("x"))],
    ["a text that grows", `{% assign s = 'x' %}${"{% assign s = s | append: s %}".repeat(30)}`],
    [
      "much output",
      `{% assign s = 'xxxxxxxxxxxxxxxx' %}${"{% assign s = s | append: s %}".repeat(10)}${loop("{{ s }}")}`,
    ],
    ["very many tags", "{{a}}".repeat(20_001)],
    ["a range without an end", "{{ (1..1e999) | size }}{% for i in (1..9999999999) %}{% endfor %}"],
  ])("%s", (_, source) => expect(kindOf(source)).toBe("limit"));

  test("a page as pages are is far from it", () => {
    const items = Array.from({ length: 200 }, (_, index) => ({ name: `N${index}`, price: index }));
    const source =
      "{% for i in items %}{% if i.price > 5 %}<li>{{ i.name | escape }} {{ i.price | times: 1.23 | round: 2 }}</li>{% endif %}{% endfor %}";
    const text = engine.render(engine.parse(source), Object.assign(Object.create(null), { items }), rendering());
    expect(text).toContain("N199");
  });
  test.each([
    "{% render 'a' %}",
    "{% include 'a' %}",
    "{% layout 'a' %}{% block b %}{% endblock %}",
    "{{ 'a' | prompt_url }}",
  ])("there is no %s", (source) => expect(kindOf(source)).toBe("syntax"));
});

describe("a list in a block", () => {
  const articles = ["a", "b", "c"].map((title) => Object.assign(Object.create(null), { title }));
  const block = () => ({ part: "list", articles }) as const;
  test.each([
    ["{{ article.title }}{{ forloop.index }}", "a1b2c3"],
    ["{% if article.title == 'b' %}{% break %}{% endif %}{{ article.title }}", "a"],
    ["{% if article.title == 'b' %}{% continue %}{% endif %}{{ article.title }}", "ac"],
    ["{% for i in (1..2) %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}{{ article.title }}", "1a1b1c"],
    ["{% assign last = article.title %}", "c"],
  ])("%s", (list, text) => {
    expect(render(`{% articles %}{% list %}${list}{% endarticles %}{{ last }}`, { block })).toBe(text);
  });
  test("leaves nothing behind", () => {
    expect(render("{% articles %}{% list %}{% endarticles %}[{{ article.title }}{{ forloop.index }}]", { block })).toBe(
      "[]",
    );
  });
});

import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { filters as filterNames } from "liquidjs";
import { createLiquid, LiquidFault } from "./liquid.ts";

const liquid = createLiquid({ partials: { self: "{% include 'self' %}{% include 'self' %}" } });

function outcome(source: string, variables: Record<string, unknown> = {}): string {
  try {
    liquid.renderSync(source, variables);
    return "rendered";
  } catch (error) {
    if (!(error instanceof LiquidFault)) throw error;
    expect(error.line).toBeGreaterThanOrEqual(1);
    expect(error.message.length).toBeLessThanOrEqual(300);
    return error.kind;
  }
}

const loop = (body: string, times = 1_000_000) => `{% for i in (1..${times}) %}${body}{% endfor %}`;
/** `start`, then `step` so often that what doubles is beyond every bound. */
const grow = (start: string, step: string, times = 60) =>
  `{% assign s = ${start} %}${`{% assign s = s | ${step} %}`.repeat(times)}`;
const big = "{% assign s = 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' %}" + "{% assign s = s | append: s %}".repeat(14);
/** A list of lists that share one another: 2^n elements in n steps. */
const shared = (steps: number) =>
  `{% assign a = 'x' | split: ',' %}${"{% assign a = '' | split: ',' | push: a | push: a %}".repeat(steps)}`;

/** Each must end as a limit fault; the test runner's time limit is a backstop only. */
const hostile: Record<string, string> = {
  "a loop without an end": loop("x", 1_000_000_000),
  "a loop of a million": loop(""),
  "nested loops": loop(loop(loop("", 1000), 1000), 1000),
  "nested table rows": "{% tablerow i in (1..1000) %}{% tablerow j in (1..1000) %}{% endtablerow %}{% endtablerow %}",
  "a range where one more is no more": "{% for i in (9007199254740992..9007199254740994) %}x{% endfor %}",
  "a range up to infinity": "{{ (1..1e999) }}{% assign x = 1 | divided_by: 0 %}{{ (1..x) | size }}",
  "a range from infinity": "{% assign x = -1 | divided_by: 0 %}{% for i in (x..0) %}{% endfor %}",
  "ranges in lists": "{% assign a = (1..100000) %}".repeat(100),
  "doubling by append": grow("'x'", "append: s"),
  "doubling by prepend": grow("'x'", "prepend: s"),
  "doubling by replace": grow("'xx'", "replace: 'x', 'xx'"),
  "growth by replace of nothing": grow("'xx'", "replace: '', s"),
  "growth by replace_first": grow("'xx'", "replace_first: 'x', s"),
  "growth by join": grow("'xx'", "split: '' | join: s"),
  "growth by escape": grow("'&&&&'", "escape | append: s"),
  "growth by newline_to_br": `${loop("\n", 30_000)}{% capture s %}${loop("\n", 60_000)}{% endcapture %}${"{% assign s = s | newline_to_br | replace: '<', '\n\n' %}".repeat(20)}`,
  "growth by json": `{% assign s = '"' %}${"{% assign s = s | json %}".repeat(40)}`,
  "growth by capture":
    "{% assign s = 'xxxx' %}" + "{% capture s %}{{ s }}{{ s }}{{ s }}{{ s }}{% endcapture %}".repeat(40),
  "growth by concat": grow("'a,b' | split: ','", "concat: s"),
  "growth by push": loop("{% assign s = s | push: i %}"),
  "growth of output": big + loop("{{ s }}"),
  "growth of output by a filter": big + loop("{{ s | upcase }}"),
  "growth in a cycle": big + loop("{% cycle s, s %}"),
  "lists that share, printed": `${shared(45)}{{ a }}`,
  "lists that share, as JSON": `${shared(45)}{{ a | json }}`,
  "lists that share, joined": `${shared(45)}{{ a | join: '' }}`,
  "lists that share, compared": `${shared(45)}{% assign b = a %}${shared(45)}{% if a == b %}{% endif %}`,
  "lists that share, ordered": `${shared(45)}{% if a < 1 %}{% endif %}{{ a | sort }}`,
  "lists that share, as a case": `${shared(45)}{% case a %}{% when a %}{% endcase %}`,
  "lists that share, as an offset": `${shared(45)}{% for i in a offset: a %}{% endfor %}`,
  "lists that share, as a name": `${shared(45)}{{ a[a] }}{% cycle a: 1, 2 %}`,
  "lists that share, below the limit, over and over": `${shared(20)}${"{% if a == a %}{% endif %}".repeat(100)}`,
  "lists that share, below the limit, in a case": `${shared(18)}${"{% case a %}{% when a %}{% endcase %}".repeat(100)}`,
  "lists in lists": loop("{% assign a = '' | split: '' | push: a %}"),
  "groups of groups": `{% assign g = 'a,b' | split: ',' %}${"{% assign g = g | concat: g | group_by: 'q' | map: 'items' %}".repeat(60)}{{ g }}`,
  "texts that share": `${big}{% assign a = (1..100000) | map: 'x' %}${loop("{% assign b = b | push: s %}", 400)}{{ b | join: '' | size }}`,
  "sort of a long list": `{% assign a = (1..20000) | reverse %}${"{% assign b = a | sort %}".repeat(50)}`,
  "sort_natural of long texts": `${big}${"{% assign b = b | push: s %}".repeat(30)}${"{% assign c = b | sort_natural %}".repeat(30)}`,
  "uniq over and over": big + loop("{% assign b = s | split: 'q' | uniq %}"),
  "search that takes the product": `${big}{% assign n = s | replace: 'x', 'ab' %}{% assign m = n | slice: 0, 500000 | append: 'ba' %}${"{{ n | replace: m, '' | size }}".repeat(9)}${loop("{% if n contains m %}{% endif %}", 1000)}`,
  "search backwards that takes the product": `${big}{% assign n = s | replace: 'x', 'ab' %}{% assign m = 'ba' | append: n | slice: 0, 500000 %}${loop("{{ n | remove_last: m | size }}", 1000)}`,
  "equality of long texts": `${big}{% assign t = s | append: '' %}{% assign t = s | upcase | downcase %}${loop("{% if s == t %}{% endif %}")}`,
  "a case with many long texts": `${big}{% assign t = s | upcase | downcase %}{% case s %}{% when ${"u or ".repeat(100)}t %}{% endcase %}${loop("{% case s %}{% when t or t or t %}{% endcase %}")}`,
  "strip_html of what opens and never closes": `{% assign s = '<script <style <!-- < ' %}${"{% assign s = s | append: s %}".repeat(14)}${"{{ s | strip_html | size }}".repeat(100)}`,
  "words without an end": `{% assign s = 'a ' %}${"{% assign s = s | append: s %}".repeat(21)}{{ s | truncatewords: 3 }}{{ s | number_of_words }}`,
  "split into letters": `${big}${"{% assign b = s | split: '' %}".repeat(30)}`,
  "slugify and squish over and over": `{% assign s = ' - - ' %}${"{% assign s = s | append: s %}".repeat(16)}${loop("{{ s | slugify | squish | size }}")}`,
  "dates without an end": loop("{{ 'now' | date: '%c %x %X %Z %B %A' }}"),
  "hashes without an end": big + loop("{{ s | sha256 }}"),
  "a long path": `{% assign p = 'a.' %}${"{% assign p = p | append: p %}".repeat(14)}{{ (1..1000) | map: p }}`,
  "a long path in where": `{% assign p = 'a.' %}${"{% assign p = p | append: p %}".repeat(14)}{{ (1..1000) | where: p, 1 }}`,
  "where over and over": loop("{{ (1..1000) | where: 'x', 1 | size }}"),
  "many filters in a row": `{{ 'x' ${"| append: 'x' | upcase ".repeat(5000)}}}${loop("{{ 'x' | upcase }}")}`,
  "a partial that loads itself twice": "{% include 'self' %}",
  "blocks too deep": "{% if true %}".repeat(10_000),
  "blocks too deep, closed": "{% if true %}".repeat(5000) + "{% endif %}".repeat(5000),
  "liquid in liquid": `{% ${"liquid ".repeat(10_000)} %}`,
  "brackets too deep": `{{ ${"a[".repeat(60_000)} }}`,
  "brackets too deep, closed, after much text": `${"x".repeat(100_000)}{{ ${"a[".repeat(9000)}b${"]".repeat(9000)} }}`,
  "parentheses too deep": `{{ ${"(".repeat(60_000)} }}`,
  "brackets in a path too deep": `{% assign p = 'a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[a[' %}{{ (1..9) | where: p, 1 }}`,
  "a source too long": "x".repeat(256_001),
};

/** Data of a hundred thousand properties or elements, of which a template asks again and again. */
const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, at]));
const long = Object.values(wide);
const data = { wide, long, nested: Array.from({ length: 1000 }, () => long), blanks: " ".repeat(200_000) };
const items = { items: Array.from({ length: 1000 }, (_, id) => ({ id, client: { name: `c${id}` } })) };
/** How often each may run within 200 000 steps: no more than about a second of work. */
const byData: Record<string, [body: string, most: number]> = {
  "a loop over an object's properties": ["{% for x in wide limit: 1 %}{% endfor %}", 2],
  "a loop over a list backwards": ["{% for x in long reversed limit: 1 %}{% endfor %}", 40],
  "table rows of an object's properties": ["{% tablerow x in wide limit: 1 %}{% endtablerow %}", 2],
  "groups of an object's properties": ["{% assign x = wide | group_by: 'a' %}", 2],
  "the size of an object": ["{{ wide.size }}", 40],
  "whether an object is empty": ["{% if wide == empty %}{% endif %}", 40],
  "whether a long text is blank": ["{% if blank == blanks %}{% endif %}", 40],
  "whether a case is empty": ["{% case wide %}{% when empty %}{% endcase %}", 40],
  ...Object.fromEntries(
    ["where", "reject", "find", "find_index", "has"].map((name) => [
      name,
      [`{% assign x = items | ${name}: 'client.name', 'c999' %}`, 50],
    ]),
  ),
};

describe("work on large data is counted by its size:", () => {
  test.each(Object.entries(byData))("%s", (_what, [body, most]) => {
    expect(outcome(loop(body, most), { ...data, ...items })).toBe("limit");
  });

  test("lists are no numbers, so their sum is none", () => {
    expect(
      liquid.renderSync("{{ nested | sum }} {{ items | sum: 'id' }} {{ values | sum }}", {
        ...data,
        ...items,
        values: [1, "2", "x", null, true, 0.5],
      }),
    ).toBe("0 499500 4.5");
  });
});

describe("a hostile template ends as a limit fault:", () => {
  test.each(Object.keys(hostile))("%s", (name) => expect(outcome(hostile[name] ?? "")).toBe("limit"));
});

/** Each is harmless, however it looks: it must end, without exhausting anything. */
const large: Record<string, string> = {
  "an inline comment of empty lines": `{% # ${"\n".repeat(200_000)}# %}`,
  "many variables": "{{ a }}".repeat(35_000),
  "huge numbers for truncate, slice and round":
    "{{ 'abc' | truncate: 1e300 | slice: 0, 1e300 }}{{ 1.5 | round: 1e300 }}{{ 'a' | truncatewords: 1e300 }}",
  "a wide date": "{{ 'now' | date: '%999999999Y%999999999N%0999999999d' }}",
  "negative and odd numbers":
    "{% for i in (1..3) limit: -1 offset: 'x' %}{% endfor %}{{ 'abc' | slice: -9, -9 }}{{ 5 | modulo: 0 }}{{ 'x' | sample: -1 }}",
  "blanks without an end": `{{ s | strip | lstrip | rstrip | squish }}${" ".repeat(200_000)}{%- assign s = 1 -%}`,
  "raw without an end of what looks like one": `{% raw %}${"{% endraw ".repeat(20_000)}{% endraw %}`,
};

describe("a large template is rendered:", () => {
  test.each(Object.keys(large))("%s", (name) => expect(outcome(large[name] ?? "")).toBe("rendered"));
});

test("variablesOf of a long template ends", () => {
  expect(liquid.variablesOf("{{ a.b }}{% assign c = d %}\n".repeat(9000))).toEqual(["a.b", "d"]);
});

test("a hostile template does not spoil the next one", () => {
  for (const source of Object.values(hostile).slice(0, 6)) outcome(source);
  expect(liquid.renderSync("{{ (1..3) | join: ',' }}{{ a[b[c]] }}", {})).toBe("1,2,3");
});

describe("what is not plain data is never readable:", () => {
  const secret = "SECRET";
  class Record {
    id = 1;
    #hidden = secret;
    get inherited() {
      return this.#hidden;
    }
    toString() {
      return secret;
    }
  }
  const variables = {
    record: new Record(),
    fn: () => secret,
    object: { fn: () => secret, call: Object.assign(() => secret, { prop: secret }) },
    list: ["x"],
    text: "t",
    key: "constructor",
  };
  const roots = [
    "record",
    "fn",
    "object",
    "object.fn",
    "object.call",
    "list",
    "text",
    "empty",
    "blank",
    "nil",
    "'s'",
    "forloop",
    "nothing",
  ];
  const keys = [
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "valueOf",
    "hasOwnProperty",
    "inherited",
    "call",
    "apply",
    "bind",
    "__defineGetter__",
    "__lookupGetter__",
    "next",
    "i",
    "liquidMethodMissing",
    "equals",
    "then",
    "length.constructor",
    "name",
  ];
  test.each(roots)("%s", (root) => {
    for (const key of keys) {
      const reads = [
        `${root}.${key}`,
        `${root}['${key}']`,
        `${root}.${key}.${key}`,
        `${root}['${key}']['constructor']`,
        `${root}[key]`,
      ];
      for (const read of reads) {
        if (read === "forloop.name") continue;
        const text = liquid.renderSync(
          `{% for i in list %}{{ ${read} }}|{{ ${read} | json }}|{{ list | map: '${key}' }}{% endfor %}`,
          variables,
        );
        expect(text).not.toMatch(/SECRET|function|native|\[object|class /);
      }
    }
  });

  test.each(["__proto__", "constructor", "toString", "self", "process", "globalThis"])("the variable %s", (name) => {
    expect(liquid.renderSync(`{{ ${name} }}{{ ${name}.constructor }}{{ ['${name}'] }}`, {})).toBe("");
    expect(liquid.evaluate(name, {})).toBeUndefined();
    liquid.renderSync(`{% assign ${name} = 'x' %}{% capture ${name} %}y{% endcapture %}{% increment ${name} %}`, {});
    liquid.renderSync(
      `{% for ${name} in (1..2) %}{{ ${name} }}{% cycle '${name}': 1, 2 %}{% endfor %}{% include 'self2', ${name}: 1 %}`,
      {},
      { partials: { self2: "" } },
    );
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(Reflect.get({}, "x")).toBeUndefined();
  });
});

describe("properties:", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "{{",
      "}}",
      "{%",
      "%}",
      "{%-",
      "-%}",
      "|",
      ":",
      ",",
      ".",
      "..",
      "(",
      ")",
      "[",
      "]",
      "'",
      '"',
      "\\",
      "\n",
      " ",
      "=",
      "==",
      "<",
      "and",
      "or",
      "not",
      "if",
      "endif",
      "elsif",
      "else",
      "unless",
      "endunless",
      "for",
      "in",
      "endfor",
      "case",
      "when",
      "endcase",
      "assign",
      "capture",
      "endcapture",
      "raw",
      "endraw",
      "comment",
      "endcomment",
      "liquid",
      "echo",
      "cycle",
      "tablerow",
      "endtablerow",
      "increment",
      "render",
      "include",
      "layout",
      "block",
      "endblock",
      "#",
      "break",
      "continue",
      "a",
      "b.c",
      "list",
      "1",
      "-2.5",
      "true",
      "nil",
      "empty",
      "blank",
      "forloop",
      "reversed",
      "limit",
      "offset",
      "with",
      "as",
    ),
    fc.constantFrom(...Object.keys(filterNames)),
    fc.string(),
  );
  const source = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(" "));
  const value = fc.jsonValue();

  test("any source parses or is a fault with a line, and renders or is a fault", () => {
    fc.assert(
      fc.property(
        fc.oneof(source, fc.string()),
        fc.dictionary(fc.constantFrom("a", "b", "list", "__proto__"), value),
        (text, variables) => {
          expect(["rendered", "syntax", "runtime", "limit"]).toContain(outcome(text, variables));
          const error = liquid.syntaxError(text);
          if (error) expect(error.line).toBeLessThanOrEqual(text.split("\n").length);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("any filter takes anything", () => {
    const name = fc.constantFrom(...Object.keys(filterNames).filter((filter) => !filter.endsWith("_exp")));
    fc.assert(
      fc.property(
        name,
        fc.array(value, { maxLength: 4 }),
        fc.constantFrom("a", "nil", "empty", "(1..9)", "forloop", "'x'"),
        (filter, args, input) => {
          const variables = Object.fromEntries(args.map((arg, index) => [`v${index}`, arg]));
          const list = args.map((_, index) => `v${index}`).join(", ");
          const text = `{% for i in (1..2) %}{{ ${input === "a" ? "v0" : input} | ${filter}${list && `: ${list}`} | ${filter} | json }}{% endfor %}`;
          expect(["rendered", "runtime", "limit"]).toContain(outcome(text, variables));
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("any expression has a value or a fault", () => {
    fc.assert(
      fc.property(source, value, (text, a) => {
        for (const read of [() => liquid.evaluate(text, { a }), () => liquid.condition(text, { a })]) {
          try {
            read();
          } catch (error) {
            expect(error).toBeInstanceOf(LiquidFault);
          }
        }
      }),
      { numRuns: 1000 },
    );
  });
});

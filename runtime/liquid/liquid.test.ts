import { describe, expect, spyOn, test } from "bun:test";
import * as fc from "fast-check";
import { Tag } from "liquidjs";
import { parseExactly } from "../base/exact-number.ts";
import { createLiquid, LiquidFault, type Liquid, type RenderOptions } from "./liquid.ts";

test("an engine loads no tables of Intl until a template asks for them", () => {
  const asked = spyOn(Intl, "DateTimeFormat");
  try {
    createLiquid();
    expect(asked).not.toHaveBeenCalled();
  } finally {
    asked.mockRestore();
  }
});

const clock = () => new Date("2026-01-05T23:30:00.123Z");
const plain = createLiquid();
const fixed = { clock, random: () => 0.5 };
const liquid: Liquid = {
  ...plain,
  renderSync: (template, variables, options) => plain.renderSync(template, variables, { ...fixed, ...options }),
  evaluate: (source, variables, options) => plain.evaluate(source, variables, { ...fixed, ...options }),
  condition: (source, variables, options) => plain.condition(source, variables, { ...fixed, ...options }),
};

function faultOf(work: () => unknown): LiquidFault {
  try {
    work();
  } catch (error) {
    if (error instanceof LiquidFault) return error;
    throw error;
  }
  throw new Error("expected a LiquidFault");
}

describe("rendering", () => {
  const people = [
    { name: "Żaneta", age: 30, tags: ["x"] },
    { name: "adam", age: 9 },
    { name: "Bob", age: 100 },
    { name: "Ćwik" },
  ];
  const cases: [string, string][] = [
    [
      "Hi {{ people[0].name }}, {{ people.first.age | plus: 1 }} {{ people.last.name }} {{ people.size }}",
      "Hi Żaneta, 31 Ćwik 4",
    ],
    ["{% if id != blank %}one{% else %}many{% endif %}", "many"],
    [
      "{% for p in people limit: 2 %}{{ forloop.index }}{{ p.name }}{% unless forloop.last %}, {% endunless %}{% endfor %}",
      "1Żaneta, 2adam",
    ],
    ["{% for i in (1..3) reversed %}{{ i }}{% endfor %}{% for i in (3..1) %}x{% else %}none{% endfor %}", "321none"],
    ["{% assign n = 3 %}{% for i in (1..n) %}{{ i }}{% endfor %}{{ (1..n) | join: '-' }}", "1231-2-3"],
    [
      "{% case n %}{% when 1, 2 %}a{% when 3 or 4 %}b{% else %}c{% endcase %}{% case 4 %}{% when 3 or 4 %}b{% endcase %}",
      "cb",
    ],
    [
      "{% case text %}{% when empty %}empty{% else %}full{% endcase %}{% case nothing %}{% when nil %}nil{% endcase %}",
      "emptynil",
    ],
    ["{{ people | sort: 'age' | map: 'name' | join: ' ' }}", "adam Żaneta Bob Ćwik"],
    ["{{ people | sort_natural: 'name' | map: 'name' | join: ' ' }}", "adam Bob Ćwik Żaneta"],
    ["{{ people | where: 'age', 9 | map: 'name' }}{{ people | where: 'tags' | size }}", "adam1"],
    [
      "{{ people | group_by: 'tags' | size }}{{ people | sum: 'age' }}{{ people | find: 'name', 'Bob' | json }}",
      '2139{"name":"Bob","age":100}',
    ],
    ["{{ 'a,b,,c,,' | split: ',' | json }}{{ 'abc' | split: '' | reverse | join: '' }}", '["a","b","","c"]cba'],
    ["{{ 'a.b.a' | replace: 'a', '$&' }}{{ 'a.b.a' | remove: 'a' }}{{ 'ab' | replace: '', '-' }}", "$&.b.$&.b.-a-b-"],
    ["{{ 'a.b.a' | replace_first: 'a', 'x' | replace_last: 'a', 'y' | remove_first: '.' | remove_last: '.' }}", "xby"],
    [
      "{{ '🙂héllo' | slice: 0, 3 }}|{{ 'hello' | slice: -3, 2 }}|{{ 'hello' | slice: 1 }}|{{ 'hello' | slice: 1, 1000000000 }}",
      "🙂hé|ll|e|ello",
    ],
    ["{{ nums | slice: 1, 2 | json }}{{ 'x' | slice: 9 }}", "[2,3]"],
    [
      "{{ 'x' | append: 1 | prepend: nums }}{{ 'Hello wide world' | truncate: 8 }}{{ 'a b c' | truncatewords: 2 }}",
      "123x1Hello...a b...",
    ],
    [
      "{{ '<b>&amp;' | escape }}{{ '<p>x<script>y</script></p>' | strip_html }}{{ 'a b' | url_encode }}",
      "&lt;b&gt;&amp;amp;xa+b",
    ],
    ["{{ o }}{{ nums }}{{ nothing }}{{ true }}{{ when }}", '{"a":{"b":[1]}}123true2026-01-31T00:00:00.000Z'],
    ["{{ o | json: 2 }}", '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}'],
    ["{{ nums | concat: nums | uniq | push: 9 | unshift: 0 | pop | shift | reverse | json }}", "[3,2,1]"],
    ["{% capture x %}{{ nums[0] }}!{% endcapture %}{{ x | append: x }}{% increment c %}{% increment c %}", "1!1!01"],
    [
      "{% liquid assign a = 1\n echo a | plus: 1\n%}{% # note\n# more %}{% comment %}x{% endcomment %}{% raw %}{{ x }}{% endraw %}",
      "2{{ x }}",
    ],
    [
      "{% if 'abc' contains 'b' and nums contains 2 %}y{% endif %}{% if nums == nums %}y{% endif %}{% if o == o %}y{% endif %}",
      "yyy",
    ],
    ["{{ 'b' | default: 'x' }}{{ '' | default: 'x' }}{{ false | default: 'x', allow_false: true }}", "bxfalse"],
    [
      "{% tablerow p in people cols: 2 limit: 2 %}{{ p.name }}{% endtablerow %}",
      '<tr class="row1"><td class="col1">Żaneta</td><td class="col2">adam</td></tr>',
    ],
    [
      "{% cycle 'a', 'b' %}{% cycle 'a', 'b' %}{% for i in nums %}{% if i == 2 %}{% continue %}{% endif %}{{ i }}{% endfor %}",
      "ab13",
    ],
    [
      "{{ nums | sample }}{{ nums | sample: 2 | size }}{{ 'żółw' | slugify }}{{ 'a  b' | squish | upcase }}",
      "22żółwA B",
    ],
    ["{{ dashed-name }}{{ o['a']['b'][0] }}{{ nums[-1] }}{{ 'abc'.size }}", "dash133"],
  ];
  const variables = {
    people,
    nums: [1, 2, 3],
    text: "",
    o: { a: { b: [1] } },
    when: new Date("2026-01-31"),
    "dashed-name": "dash",
  };
  test.each(cases)("%s", (source, expected) => expect(liquid.renderSync(source, variables)).toBe(expected));

  test("leaves the caller's variables as they are", () => {
    const given = { n: 1, list: [3, 1, 2] };
    liquid.renderSync("{% increment n %}{% assign n = 9 %}{{ list | sort | reverse }}{{ list | push: 1 }}", given);
    expect(given).toEqual({ n: 1, list: [3, 1, 2] });
  });

  test("of the same source parses once", () => {
    expect(liquid.parse("same {{ x }}")).toBe(liquid.parse("same {{ x }}"));
    expect(liquid.renderSync(liquid.parse("same {{ x }}"), { x: 1 })).toBe("same 1");
  });
});

describe("expressions", () => {
  const variables = { weather: { main: { temp: 21 } }, city: "Łódź", list: [1, "a"], none: null, flag: false };
  test.each([
    ["weather.main.temp", 21],
    ["weather.main.temp | plus: 0.5", 21.5],
    ["weather.main", { temp: 21 }],
    ["list", [1, "a"]],
    ["list | size", 2],
    ["flag", false],
    ["nothing.at.all", undefined],
    ["nil", null],
    ["'text'", "text"],
    ["weather.main.temp > 20 and city != blank", true],
    ["(1..3)", [1, 2, 3]],
  ] as const)("%s is typed", (source, expected) => expect(liquid.evaluate(source, variables)).toEqual(expected));

  test.each([
    ["weather.main.temp > 20 and city != blank", true],
    ["weather.main.temp > 30 or city contains 'Ł'", true],
    ["weather.main.temp > 30", false],
    ["city == blank", false],
    ["none", false],
    ["flag", false],
    ["nothing == nil", true],
    ["0", true],
    ["''", true],
    ["list contains 'a'", true],
    ["list > 1", false],
    ...["nothing", "none", "nil", "''", "' '", "flag", "blank", "empty"].flatMap((one) =>
      ["<", "<=", ">", ">="].flatMap((op): [string, boolean][] => [
        [`${one} ${op} 0`, false],
        [`5 ${op} ${one}`, false],
        [`${one} ${op} ${one}`, false],
        [`${one} ${op} 'a'`, false],
      ]),
    ),
    ["'5' < 10", true],
    ["'a' < 'b'", true],
    ["not flag", true],
  ])("%s: %p", (source, expected) => expect(liquid.condition(source, variables)).toBe(expected));

  test.each([
    ["", 1],
    ["a b", 3],
    ["a | nosuch", 1],
    ["a, b", 2],
    ["a )", 3],
    ["a ==\n  (", 4],
    ["a >", 1],
    ["> a", 1],
    ["a not b", 1],
  ])("%p is a syntax fault with its place", (source) => {
    const fault = faultOf(() => liquid.evaluate(source, {}));
    expect(fault.kind).toBe("syntax");
    expect(liquid.expressionError(source)).toEqual({ line: fault.line, column: fault.column, message: fault.message });
  });
});

describe("a syntax error", () => {
  test.each([
    ["ok\n {{ a | nosuch }}", 2, 2, "undefined filter: nosuch"],
    ["{% if a %}\n", 1, 1, "tag {% if a %} not closed"],
    ["a\n\n  {% nosuch %}", 3, 3, 'tag "nosuch" not found'],
    ["{{ a", 1, 1, 'output "{{ a" not closed'],
    ["{{ 'a' | where_exp: 'x', 'x' }}", 1, 1, "undefined filter: where_exp"],
    ["{% render 'x' %}", 1, 1, 'tag "render" not found'],
    ["{% include x %}", 1, 1, 'tag "include" not found'],
    ["{% # a\n\nb %}", 1, 1, "every line of an inline comment must start with a '#' character"],
  ])("%p is told with line and column", (source, line, column, message) => {
    expect(liquid.syntaxError(source)).toEqual({ line, column, message });
    expect(faultOf(() => liquid.renderSync(source, {}))).toMatchObject({ kind: "syntax", line, column });
  });

  test("there is none in a right template", () => expect(liquid.syntaxError("{{ a }}")).toBeUndefined());
});

test("a failure at run time has its place, its partial and its cause", () => {
  const failing = createLiquid({ partials: { inner: "\n\n {{ x | boom }}", wrong: "a\n{% if %}" } });
  const cause = new Error("no such prompt");
  failing.registerFilter("boom", () => {
    throw cause;
  });
  expect(faultOf(() => failing.renderSync("a\n {{ 1 | boom }}", {}))).toMatchObject({
    kind: "runtime",
    line: 2,
    column: 2,
    cause,
    message: "no such prompt",
  });
  expect(faultOf(() => failing.renderSync("{% render 'inner' %}", {}))).toMatchObject({
    line: 3,
    column: 2,
    partial: "inner",
  });
  expect(faultOf(() => failing.renderSync("{% render 'wrong' %}", {}))).toMatchObject({
    kind: "syntax",
    line: 2,
    partial: "wrong",
  });
  expect(faultOf(() => failing.renderSync("\n{% render 'none' %}", {}))).toMatchObject({
    kind: "runtime",
    line: 2,
    message: 'there is no partial "none"',
  });
  expect(faultOf(() => liquid.renderSync("{{ '%' | url_decode }}", {})).kind).toBe("runtime");
});

test("variablesOf lists what a template expects, with paths", () => {
  const source =
    "{{ client.name }}{% for i in items %}{{ i.x }}{{ rate[i.y] | times: vat }}{% endfor %}{% assign a = b %}{{ a }}{% for n in (1..max) %}{% endfor %}";
  expect(liquid.variablesOf(source).toSorted()).toEqual(["b", "client.name", "items", "max", "rate[i.y]", "vat"]);
});

test("a filter is registered once and may be replaced for one rendering", () => {
  const engine = createLiquid();
  engine.registerFilter("prompt_url", (code) => `/${String(code)}`);
  const filters = { prompt_url: (code: unknown) => `https://x/${String(code)}` };
  expect(engine.renderSync("{{ 'a' | prompt_url }}", {}, { filters })).toBe("https://x/a");
  expect(engine.renderSync("{{ 'a' | prompt_url }}", {})).toBe("/a");
  expect(() => engine.renderSync("", {}, { filters: { other: () => "" } })).toThrow(
    "the filter other is not registered",
  );
});

test("a tag is registered as a class", () => {
  const engine = createLiquid();
  class Hello extends Tag {
    render() {
      return "hello";
    }
  }
  engine.registerTag("hello", Hello);
  expect(engine.renderSync("{% hello %}!", {})).toBe("hello!");
});

describe("partials", () => {
  const engine = createLiquid({
    partials: { row: "[{{ x }}{{ y }}]", page: "<{% block main %}{% endblock %}>", row2: "{{ row2 }}" },
  });
  test.each([
    ["{% assign y = 1 %}{% render 'row', x: 2 %}{% include 'row', x: 3 %}", "[2][31]"],
    ["{% layout 'page' %}{% block main %}hi{% endblock %}", "<hi>"],
    ["{% render 'row' for list as x %}{% render 'row2' with 'v' %}", "[7][8]v"],
  ])("%s", (source, expected) => expect(engine.renderSync(source, { list: [7, 8] })).toBe(expected));

  test("may be brought by a rendering, and none else are readable", () => {
    const partials = (name: string) => (name === "row" ? "mine" : undefined);
    expect(engine.renderSync("{% render 'row' %}", {}, { partials })).toBe("mine");
    for (const name of ["../../package.json", "/etc/passwd", "package.json", "__proto__", "constructor", "toString"]) {
      expect(faultOf(() => engine.renderSync("{% include name %}", { name }))).toMatchObject({ kind: "runtime" });
    }
  });

  test("that load themselves end", () => {
    const loop = { partials: { a: "{% include 'b' %}", b: "{% render 'a' %}", c: "{% layout 'c' %}" } };
    for (const source of ["{% render 'a' %}", "{% include 'b' %}", "{% layout 'c' %}"]) {
      expect(faultOf(() => engine.renderSync(source, {}, loop)).kind).toBe("limit");
    }
  });
});

describe("dates", () => {
  const cases: [string, RenderOptions, string][] = [
    ["{{ 'now' | date: '%d %B %Y %H:%M' }}", { locale: "pl", timezone: "Europe/Warsaw" }, "06 stycznia 2026 00:30"],
    ["{{ 'today' | date: '%B %Y' }}", { locale: "pl" }, "styczeń 2026"],
    ["{{ '2026-02-03' | date: '%-d %B' }}", { locale: "cs" }, "3 února"],
    ["{{ '2026-02-03' | date: '%e %B' }}", { locale: "uk" }, " 3 лютого"],
    ["{{ '2026-02-03' | date: '%B' }}", { locale: "ru" }, "февраль"],
    ["{{ '2026-02-03' | date: '%-d. %B' }}", { locale: "de_AT" }, "3. Februar"],
    ["{{ '2026-02-03' | date: '%-d %b %A %a' }}", { locale: "cs" }, "3 úno úterý út"],
    ["{{ '2026-02-03' | date: '%B' }}", { locale: "no such locale" }, "February"],
    [
      "{{ '2026-07-01' | date: '%F %T %z %:z %s' }}",
      { timezone: "Europe/Warsaw" },
      "2026-07-01 00:00:00 +0200 +02:00 1782856800",
    ],
    [
      "{{ '2026-07-01 10:00:00.5+00' | date: '%F %T.%L' }}",
      { timezone: "America/New_York" },
      "2026-07-01 06:00:00.500",
    ],
    ["{{ '2026-07-01T10:00:00+02:00' | date: '%T %Z' }}", { timezone: "+05:30" }, "13:30:00 +0530"],
    ["{{ '2026-07-01T10:00:00Z' | date: '%H', 'Asia/Tokyo' }}{{ 0 | date: '%H', -120 }}", {}, "1902"],
    [
      "{{ 1767655800 | date: '%j %U %W %V %G %u %w %I %l %p %P %3N %q %C %y' }}",
      {},
      "005 01 01 02 2026 1 1 11 11 PM pm 000 th 20 26",
    ],
    [
      "{{ '1767655800' | date: '%D %R %r|%v|%^a|%010Y|%-m|%_m|%%F|%Q|%' }}",
      {},
      "01/05/26 23:30 11:30:00 PM| 5-JAN-2026|MON|0000002026|1| 1|%F|%Q|%",
    ],
    ["{{ 'January 5, 2026' | date: '%F %H' }}", { timezone: "Asia/Tokyo" }, "2026-01-05 00"],
    ["{{ 'Mon, 05 Jan 2026 10:00:00 +0200' | date: '%F %H' }}", {}, "2026-01-05 08"],
    [
      "{{ d | date_to_xmlschema }}|{{ d | date_to_rfc822 }}",
      { locale: "pl", timezone: "Europe/Warsaw" },
      "2026-01-31T11:00:00+01:00|Sat, 31 Jan 2026 11:00:00 +0100",
    ],
    ["{{ d | date_to_string }}|{{ d | date_to_long_string: 'ordinal', 'US' }}", {}, "31 Jan 2026|January 31st, 2026"],
    ["{{ '2026-02-31T10:00:00Z' | date: '%F' }}", {}, "2026-02-31T10:00:00Z"],
    ["{{ 'garbage' | date: '%F' }}{{ nil | date: '%F' }}{{ '2026-02-30' | date: '%F' }}", {}, "garbage2026-02-30"],
    ["{{ '2026-03-29 02:30' | date: '%F %T %z' }}", { timezone: "Europe/Warsaw" }, "2026-03-29 02:30:00 +0100"],
    ["{{ d | date }}", {}, "Saturday, January 31, 2026 at 10:00 am +0000"],
  ];
  test.each(cases)("%s %o", (source, options, expected) => {
    expect(liquid.renderSync(source, { d: new Date("2026-01-31T10:00:00Z") }, options)).toBe(expected);
  });

  test("of an unknown zone are a runtime fault, and a long format is refused", () => {
    expect(faultOf(() => liquid.renderSync("{{ 0 | date: '%H', 'No/Where' }}", {}))).toMatchObject({
      kind: "runtime",
      message: 'unknown time zone "No/Where"',
    });
    expect(faultOf(() => liquid.renderSync("{{ 0 | date: f }}", { f: "%H".repeat(1000) })).kind).toBe("runtime");
  });

  test("any moment and format give a text or a fault", () => {
    const format = fc.array(
      fc.constantFrom("%", "-", "^", "_", "0", ":", "9", "Y", "B", "z", "s", "N", "Z", "c", "é", "E", "+"),
      { maxLength: 30 },
    );
    const options = fc.record({
      timezone: fc.constantFrom("UTC", "Europe/Warsaw", "-03:30", "bad"),
      locale: fc.constantFrom("pl", "ar", "zh", "x"),
    });
    fc.assert(
      fc.property(fc.oneof(fc.double(), fc.string(), fc.date()), format, options, (value, f, given) => {
        try {
          liquid.renderSync("{{ v | date: f }}", { v: value, f: f.join("") }, given);
        } catch (error) {
          expect(error).toBeInstanceOf(LiquidFault);
        }
      }),
    );
  });
});

describe("a number that JavaScript would round", () => {
  const [big, bigger] = ["7615917337495251231", "7615917337495251232"];
  const variables = {
    ...Object(parseExactly(`{"big":${big},"list":[${bigger},5,${big},${big},0.12345678901234567890]}`)),
  };
  const row = (n: string, at: number) => parseExactly(`{"n":${n},"at":${at}}`);
  Object.assign(variables, {
    others: [parseExactly(big), parseExactly(bigger), 5],
    rows: [big, "5", big, big, "5", bigger].map((n, at) => row(n, at + 1)),
  });
  test.each([
    ["{{ big }} {{ big | append: '!' }} {{ big | json }}", `${big} ${big}! ${big}`],
    ["{{ list | uniq | sort | join: ' ' }}", `0.1234567890123456789 5 ${big} ${bigger}`],
    ["{{ list | concat: others | uniq | sort | join: ' ' }}", `0.1234567890123456789 5 ${big} ${bigger}`],
    [
      "{% assign groups = rows | group_by: 'n' %}{% for g in groups %}{{ g.name }}:{{ g.items | map: 'at' | join }} {% endfor %}",
      `${big}:1 3 4 5:2 5 ${bigger}:6 `,
    ],
    ["{{ rows | where: 'n', big | map: 'at' | join }} {{ others contains big }}", "1 3 4 true"],
    [`{{ ${bigger} }} {{ -0.10000000000000000001 }}`, `${bigger} -0.10000000000000000001`],
    [`{% if big == ${big} and big != ${bigger} and big < ${bigger} and big > 5 and 5 < big %}yes{% endif %}`, "yes"],
    [`{% if big == 5 or big > 1e300 or big <= ${big}.5 and big < nil %}yes{% endif %}`, ""],
    [`{% case big %}{% when ${bigger} %}a{% when ${big} %}b{% endcase %}`, "b"],
    ["{{ big.size }}{{ big.equals }}", ""],
  ])("%s", (template, printed) => {
    expect(liquid.renderSync(template, variables)).toBe(printed);
  });

  test("is a value of an expression, and refuses arithmetic", () => {
    expect(JSON.stringify(liquid.evaluate("list[0]", variables))).toBe(bigger);
    expect(faultOf(() => liquid.evaluate("big | plus: 1", variables)).message).toContain(
      `${big} has too many digits to calculate with`,
    );
  });
});

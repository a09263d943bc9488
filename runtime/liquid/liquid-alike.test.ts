/** The compiler beside LiquidJS's own rendering: every filter, hostile data, every limit, and random templates and data. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { LiquidError, Tag, toValueSync, type Context, type Emitter } from "liquidjs";
import { render } from "./liquid-compile.ts";
import { GuardedLiquid } from "./liquid-engine.ts";
import { BoundedEmitter, type RunLimits } from "./liquid-guard.ts";
import { createRuns } from "./liquid-run.ts";

const partials = {
  card: "<b>{{ card.name | upcase }}{{ forloop.index }}</b>",
  broken: "{{ 1 | date: 1 | nothing }}",
  base: "<main>{% block main %}none{% endblock %}</main>",
  self: "{% render 'self' %}",
};
const data = {
  a: 1,
  b: -2.5,
  s: "Text <x>",
  e: "",
  n: null,
  t: true,
  f: false,
  list: [3, 1, 2],
  none: [],
  nested: [[1, [2]], ["x"]],
  items: [{ name: "Ada", tags: ["x", "y"] }, { name: "Bo" }, { tags: null }],
  object: { first: "1st", size: 9, list: [1], "a b": "spaced" },
  empty_object: {},
  key: "name",
  i: 1,
  date: "2026-01-05T10:00:00Z",
};

class Twice extends Tag {
  *render(context: Context, emitter: Emitter): Generator<unknown, string, unknown> {
    emitter.write("(");
    yield;
    return `${String(context.getSync(["a"]))})`;
  }
}

const standard = createEngine();

function createEngine(): GuardedLiquid {
  const engine = new GuardedLiquid(true);
  engine.registerTag("twice", Twice);
  engine.registerFilter("shout", (value, ...args) => `${String(value)}!${JSON.stringify(args)}`);
  engine.registerFilter("fail", () => {
    throw new Error("the filter failed");
  });
  return engine;
}

const filterNames = Object.keys(standard.filters).toSorted();
const fixed = { clock: () => new Date("2026-01-05T10:00:00Z"), random: () => 0.4 };

/** A context that may be interrupted is LiquidJS's own to render. */
function outcome(source: string, variables: object, sync: boolean, least: Partial<RunLimits>): unknown {
  const context = createRuns(standard, { partials, limits: least }).start(variables, fixed, { sync });
  const emitter = new BoundedEmitter(context);
  const used = () => ({ text: emitter.buffer, steps: context.run.steps, memory: JSON.stringify(context.memoryLimit) });
  try {
    const { nodes } = standard.read(source);
    if (sync) render(nodes, context, emitter);
    else toValueSync(standard.renderer.renderTemplates(nodes, context, emitter));
    return used();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const place = LiquidError.is(error) ? [...error.token.getPosition(), error.token.file] : [];
    return { name: error.name, message: error.message, place, ...used() };
  }
}

function same(source: string, variables: object = data, least: Partial<RunLimits> = {}): void {
  expect(outcome(source, variables, true, least)).toEqual(outcome(source, variables, false, least));
}

/** What each must print is LiquidJS's matter: both ways must agree. */
const sources = [
  "plain text",
  "{{ a }}{{ b }}{{ s }}{{ e }}{{ n }}{{ t }}{{ f }}{{ missing }}{{ missing.deeper[0].x }}",
  "{{ list }}{{ nested }}{{ items }}{{ object }}{{ (1..4) }}{{ nil }}{{ empty }}{{ blank }}{{ 'q' }}{{ 1.50 }}",
  "{{ list[0] }}{{ list[-1] }}{{ list[9] }}{{ list.first }}{{ list.last }}{{ list.size }}{{ s.size }}{{ s[0] }}",
  "{{ object.size }}{{ object.first }}{{ object['a b'] }}{{ object.list.first }}{{ items[i][key] }}{{ items[i].name.size }}",
  "{{ ['a'] }}{{ [key] }}{{ 'abc'.size }}{{ list[list[1]] }}{{ list['0'] }}{{ items[missing] }}{{ object[object] }}",
  "{{ s | escape | upcase | append: 'x' | shout: a, k: 2, b }}{{ list | sort | reverse | join: ', ' }}",
  "{{ items | map: 'name' | compact | json }}{{ items | where: 'name', 'Bo' | size }}{{ missing | default: 'd', allow_false: true }}",
  "{{ 5 | divided_by: 2 }}{{ 'x' | fail }}",
  "line\n  {{ 'x' | fail }}",
  "{% for i in list %}\n {{ i | divided_by: 0 }}{% if i == 1 %}{{ i | fail }}{% endif %}{% endfor %}",
  "{% if a == 1 and b < 0 or f %}1{% elsif t %}2{% else %}3{% endif %}{% if missing %}x{% endif %}{% if e %}e{% endif %}",
  "{% if not f and n == nil %}1{% endif %}{% if list contains 3 %}2{% endif %}{% if s contains 'Te' %}3{% endif %}",
  "{% if e == empty %}1{% endif %}{% if none == empty %}2{% endif %}{% if n == blank %}3{% endif %}{% if empty_object == empty %}4{% endif %}{% if empty == e %}5{% endif %}{% if a != empty %}6{% endif %}",
  "{% if list == list %}1{% endif %}{% if nested == list %}2{% endif %}{% if 'a' < 'b' %}3{% endif %}{% if 'a' < 1 %}4{% endif %}{% if n < 1 %}5{% endif %}{% if a >= 1 %}6{% endif %}{% if list < 4 %}7{% endif %}",
  "{% if a > %}x{% endif %}",
  "{% if (a == 1 or f) and t %}grouped{% endif %}{{ (s | upcase) }}",
  "{% unless f %}1{% endunless %}{% unless t %}2{% elsif a %}3{% else %}4{% endunless %}{% unless t %}5{% else %}6{% endunless %}",
  "{% case a %}{% when 1, 2 %}one{% when 1 or 3 %}again{% else %}other{% endcase %}{% case missing %}{% when nil %}nil{% endcase %}{% case s %}{% when 'q' %}{% else %}e{% endcase %}",
  "{% for i in list %}{{ i }}{{ forloop.index }}{{ forloop.index0 }}{{ forloop.rindex }}{{ forloop.rindex0 }}{{ forloop.first }}{{ forloop.last }}{{ forloop.length }}{{ forloop.name }}{{ forloop.i }}{{ forloop.next }}{{ forloop }}{% else %}none{% endfor %}",
  "{% for i in none %}x{% else %}none{% endfor %}{% for i in missing %}x{% else %}nil{% endfor %}{% for i in 'abc' %}{{ i }}{% endfor %}{% for i in 5 %}x{% else %}5{% endfor %}",
  "{% for pair in object %}{{ pair[0] }}={{ pair[1] }};{% endfor %}{% for i in (1..a) %}{{ i }}{% endfor %}{% for i in (3..1) %}x{% else %}e{% endfor %}",
  "{% for i in (1..9) limit: 2 %}{{ i }}{% endfor %}{% for i in (1..9) limit: 3 offset: continue %}{{ i }}{% endfor %}{% for i in (1..9) offset: continue reversed %}{{ i }}{% endfor %}",
  "{% for i in list reversed offset: 1 %}{{ i }}{% endfor %}{% for i in list limit: missing %}{{ i }}{% endfor %}{% for i in list limit: '2' offset: '1' %}{{ i }}{% endfor %}{% for i in list offset: -1 %}{{ i }}{% endfor %}{% for i in list offset: continue %}{{ i }}{% endfor %}",
  "{% for i in (1..9) %}{% if i == 3 %}{% continue %}{% endif %}{% if i == 6 %}{% break %}{% endif %}{{ i }}{% endfor %}{% break %}never",
  "{% for i in list %}{% for j in list %}{% if j == 1 %}{% break %}{% endif %}{{ i }}{{ j }}{{ forloop.index }}{% endfor %}{{ forloop.index }}{% endfor %}",
  "{% for forloop in list %}{{ forloop }}{% endfor %}",
  "{% for i in list %}{% assign i = 9 %}{% assign last = i %}{{ i }}{% endfor %}{{ i }}{{ last }}{% assign s = s | size %}{{ s }}",
  "{% capture c %}a{{ a }}{% for i in list %}{{ i }}{% endfor %}{% endcapture %}{{ c }}{{ c }}{% capture 'q' %}{% break %}x{% endcapture %}{{ q }}",
  "{% increment k %}{% increment k %}{% decrement k %}{{ k }}{% cycle 'a', 'b' %}{% cycle 'a', 'b' %}{% comment %}{{ x }}{% endcomment %}{% raw %}{{ a }}{% endraw %}{% # note %}",
  "{% echo a | plus: 1 %}{% echo %}{% liquid assign z = 3\n echo z\n if z\n echo 'y'\n endif %}",
  "{% tablerow i in list cols: 2 %}{{ i }}{{ tablerowloop.col }}{% if i == 1 %}{{ i }}{% endif %}{% endtablerow %}",
  "{% twice %}{% for i in list %}{% twice %}{% endfor %}",
  "{% render 'card' for items as card %}{% render 'card', card: items[0] %}{% include 'card', card: items[1] %}",
  "{% layout 'base' %}{% block main %}{% for i in list %}{{ i }}{% endfor %}{% endblock %}",
  "{% render 'missing' %}",
  "{% if t %}\n{% render 'broken' %}{% endif %}",
  "{% render 'self' %}",
  "a {%- if t -%}  b  {%- endif -%} c {{- a -}} d",
  "{{ __proto__ }}{{ constructor }}{{ list.constructor }}{{ s.__proto__.x }}{{ object.toString }}{{ hasOwnProperty }}",
  "{{ 'now' | date: '%Y' }}{{ date | date: '%-d %B' }}{{ list | sample }}",
  "{% assign x.y = 1 %}{{ x }}{% assign __proto__ = 'p' %}{{ __proto__ }}",
  `{% if ${Array.from({ length: 300 }, (_, index) => `a == ${index}`).join(" or ")} %}many{% endif %}`,
];

describe("compiled and interpreted, the same text or the same fault:", () => {
  test.each(sources)("%s", (source) => same(source));
});

describe("every filter on every kind of value:", () => {
  const values = ["a", "b", "s", "e", "n", "t", "list", "nested", "items", "object", "missing", "date", "empty"];
  const args = ["", ": 2", ": 'name'", ": s, a", ": list", ": k: 1"];
  test.each(filterNames)("%s", (name) => {
    for (const value of values) for (const given of args) same(`{{ ${value} | ${name}${given} }}`);
  });
});

describe("limits hold at the same step:", () => {
  const source =
    "{% for i in (1..9) %}{% assign x = x | append: s | upcase %}{% if x == s or list contains i %}{{ x }}{{ items[0].name }}{% endif %}{% case i %}{% when 1, 2 %}{% capture c %}{{ i }}{% endcapture %}{% endcase %}{% endfor %}";
  test.each(["steps", "memory", "outputChars"] as const)("%s", (name) => {
    for (let most = 0; most < 2500; most += most < 300 ? 1 : 97) same(source, data, { [name]: most });
  });

  test("nesting", () => {
    for (const depth of [10, 97, 98, 99, 100, 101])
      same(`${"{% if true %}".repeat(depth)}x${"{% endif %}".repeat(depth)}`);
  });
});

describe("hostile data:", () => {
  const cyclic: Record<string, unknown> = { name: "c" };
  cyclic["self"] = cyclic;
  cyclic["list"] = [cyclic];
  const hostile = {
    cyclic,
    get thrown(): unknown {
      return "read once";
    },
    getter: Object.defineProperty({}, "x", {
      enumerable: true,
      get() {
        throw new Error("the getter failed");
      },
    }),
    own: JSON.parse('{"__proto__": {"x": 1}, "constructor": "c"}'),
    generator: { next: () => ({ done: true, value: 7 }), throw: () => {}, return: () => {} },
    set: new Set([1, 2]),
    a: 1,
  };
  test.each([
    "{{ cyclic.self.self.list[0].name }}{{ cyclic }}",
    "{% for pair in cyclic %}{{ pair[0] }}{% endfor %}{% if cyclic == cyclic.self %}same{% endif %}",
    "{{ thrown }}\n {{ getter.x }}",
    "{% for pair in getter %}{{ pair[0] }}{% endfor %}",
    "{{ own.__proto__.x }}{{ own.constructor }}{{ own.constructor.name }}",
    "{{ generator }}{{ generator.next }}{{ a | plus: generator }}{% assign g = generator %}{{ g }}",
    "{% for i in set %}{{ i }}{% endfor %}{{ set.size }}",
  ])("%s", (source) => same(source, hostile));
});

const name = fc.constantFrom("a", "b", "s", "e", "n", "t", "list", "none", "items", "object", "i", "x", "missing");
const path = fc
  .tuple(
    name,
    fc.array(fc.constantFrom(".name", ".size", ".first", ".last", "[0]", "[-1]", "[i]", "[key]", ".tags"), {
      maxLength: 2,
    }),
  )
  .map(([first, rest]) => first + rest.join(""));
const atom = fc.oneof(
  path,
  fc.constantFrom("1", "0", "2.5", "'x'", "''", "nil", "true", "false", "empty", "blank", "(1..3)"),
);
const filter = fc
  .tuple(fc.constantFrom(...filterNames, "fail", "shout"), fc.array(atom, { maxLength: 2 }))
  .map(([called, args]) => ` | ${called}${args.length > 0 ? `: ${args.join(", ")}` : ""}`);
const value = fc.tuple(atom, fc.array(filter, { maxLength: 2 })).map(([first, rest]) => first + rest.join(""));
const operator = fc.constantFrom("==", "!=", "<", ">", "<=", ">=", "contains", "and", "or");
const condition = fc
  .tuple(atom, fc.array(fc.tuple(operator, atom), { maxLength: 3 }))
  .map(([first, rest]) => [first, ...rest.map((one) => one.join(" "))].join(" "));
const dash = fc.constantFrom("", "-");
const { template } = fc.letrec<{ template: string; node: string }>((tie) => ({
  template: fc.array(tie("node"), { maxLength: 4, depthIdentifier: "nodes" }).map((nodes) => nodes.join("")),
  node: fc.oneof(
    { maxDepth: 4, depthIdentifier: "nodes" },
    fc.constantFrom(
      " text ",
      "\n",
      "{% break %}",
      "{% continue %}",
      "{% twice %}",
      "{% cycle 1, 2 %}",
      "{{ forloop.index }}",
    ),
    fc.tuple(dash, value, dash).map(([left, printed, right]) => `{{${left} ${printed} ${right}}}`),
    fc.tuple(name, value).map(([to, given]) => `{% assign ${to} = ${given} %}`),
    fc
      .tuple(condition, tie("template"), condition, tie("template"), tie("template"))
      .map(([one, yes, two, maybe, no]) => `{% if ${one} %}${yes}{% elsif ${two} %}${maybe}{% else %}${no}{% endif %}`),
    fc.tuple(condition, tie("template")).map(([one, no]) => `{% unless not ${one} %}${no}{% endunless %}`),
    fc
      .tuple(value, atom, atom, tie("template"), tie("template"))
      .map(([of, one, two, hit, no]) => `{% case ${of} %}{% when ${one}, ${two} %}${hit}{% else %}${no}{% endcase %}`),
    fc
      .tuple(
        name,
        atom,
        fc.constantFrom("", " reversed", " limit: 2", " offset: 1", " offset: continue", " limit: i offset: a"),
        tie("template"),
        tie("template"),
      )
      .map(([as, of, how, body, no]) => `{% for ${as} in ${of}${how} %}${body}{% else %}${no}{% endfor %}`),
    fc.tuple(name, tie("template")).map(([to, body]) => `{% capture ${to} %}${body}{% endcapture %}`),
    fc.tuple(atom, tie("template")).map(([of, body]) => `{% tablerow i in ${of} cols: 2 %}${body}{% endtablerow %}`),
  ),
}));

test("random templates give the same text or the same fault", () => {
  fc.assert(
    fc.property(template, (source) => same(source)),
    { numRuns: 3000 },
  );
});

test("random templates and random data give the same text or the same fault", () => {
  const given = fc.dictionary(name, fc.jsonValue(), { maxKeys: 8 });
  fc.assert(
    fc.property(template, given, (source, variables) => same(source, variables)),
    { numRuns: 1500 },
  );
});

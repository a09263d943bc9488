/** Compiled templates give what LiquidJS's own rendering gives: the same text or the same fault, for the same price. */
import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { LiquidError, Tag, toValueSync, type Context, type Emitter } from "liquidjs";
import { render } from "./liquid-compile.ts";
import { GuardedLiquid } from "./liquid-engine.ts";
import { BoundedEmitter, limits, type RunLimits } from "./liquid-guard.ts";
import { createRuns } from "./liquid-run.ts";

const engine = new GuardedLiquid(true);
/** A tag that writes by what it gives back. */
engine.registerTag(
  "given",
  class extends Tag {
    render(): string {
      return "<given>";
    }
  },
);
/** A tag that writes by itself, and uses another node's way. */
engine.registerTag(
  "told",
  class extends Tag {
    *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
      emitter.write(yield this.liquid.evalValue("items.size", context));
    }
  },
);

const partials = {
  part: "[{{ name }}{{ forloop.index }}{% if items %}{{ items.size }}{% endif %}]",
  frame: "<{% block main %}none{% endblock %}|{{ name }}>",
  broken: "a\n{{ name | plus: }}{% for %}",
  deep: "{% include 'deep' %}",
};

interface Outcome {
  readonly text: string;
  readonly fault: string | undefined;
  readonly steps: number;
}

function outcome(source: string, data: object, sync: boolean, least: Partial<RunLimits> = {}): Outcome {
  const runs = createRuns(engine, { partials, limits: least });
  const given = { clock: () => new Date("2026-01-05T12:00:00Z"), random: () => 0.5 };
  const context = runs.start(data, given, { sync });
  const emitter = new BoundedEmitter(context);
  let fault: string | undefined;
  try {
    const { nodes } = engine.read(source);
    if (sync) render(nodes, context, emitter);
    else toValueSync(engine.renderer.renderTemplates(nodes, context, emitter));
  } catch (error) {
    fault = faultOf(error);
  }
  return { text: emitter.buffer, fault, steps: context.run.steps };
}

function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const place = LiquidError.is(error) ? error.token.getPosition().join(":") : "";
  return `${error.name} ${error.message} at ${place}`;
}

const data = {
  name: "Żółw <b>",
  nothing: null,
  no: false,
  empty_text: "",
  items: [{ name: "a", price: 5, tags: ["x", "y"] }, { name: "b", price: 60 }, { name: "c" }],
  none: [],
  nested: { a: { b: { c: "deep" } }, size: "own size", first: "own first", "with space": 1, 7: "seven" },
  key: "nested",
  n: 2,
  html: "<script>",
  day: "2026-01-05",
};

test.each([
  "",
  "plain {{ name }} {{ name | escape }} {{ nothing }}{{ missing.deep.path }}",
  "{{ nested.a.b.c }}{{ nested['a'].b['c'] }}{{ nested[key] }}{{ [key].a.b.c }}{{ nested['with space'] }}{{ nested[7] }}",
  "{{ items.size }}{{ items.first.name }}{{ items.last.name }}{{ items[0].tags[1] }}{{ items[-1].name }}{{ items[n].name }}",
  "{{ nested.size }}{{ nested.first }}{{ name.size }}{{ nested.constructor }}{{ nested.__proto__ }}{{ items.length }}",
  "{{ 'text' }}{{ 12 }}{{ 1.5 }}{{ true }}{{ nil }}{{ empty }}{{ blank }}{{ (1..3) }}{{ 'abc'.size }}",
  "{{ name | upcase | append: '!' | prepend: nested.a.b.c }}{{ items | map: 'name' | join: ', ' }}",
  "{{ missing | default: 'x' }}{{ no | default: 'x', allow_false: true }}{{ n | plus: n | times: 2.5 }}",
  "{% if name %}1{% elsif no %}2{% else %}3{% endif %}{% if nothing %}1{% elsif no %}2{% else %}3{% endif %}{% if no %}1{% endif %}",
  "{% unless no %}1{% endunless %}{% unless name %}1{% elsif n == 2 %}2{% else %}3{% endunless %}{% unless n %}1{% else %}2{% endunless %}",
  "{% if n == 2 and name contains 'w' or no %}1{% endif %}{% if not no %}2{% endif %}{% if empty_text == blank and none == empty %}3{% endif %}",
  "{% if n > 1 and n <= 2 and items.size >= 3 and name != 'x' %}1{% endif %}{{ n > 1 }}{{ not no }}",
  "{% for item in items %}{{ forloop.index }}/{{ forloop.length }}{{ item.name }}{% unless forloop.last %}, {% endunless %}{% endfor %}",
  "{% for item in items offset: 1 limit: 1 %}{{ item.name }}{% else %}none{% endfor %}{% for i in none %}x{% else %}none{% endfor %}",
  "{% for i in (1..9) %}{% if i == 3 %}{% continue %}{% endif %}{% if i > 5 %}{% break %}{% endif %}{{ i }}{% endfor %}{{ i }}",
  "{% for pair in nested %}{{ pair[0] }}={{ pair[1] }};{% endfor %}{% for c in name %}{{ c }}{% endfor %}",
  "{% for a in items %}{% for t in a.tags %}{{ forloop.parentloop.index }}{{ a.name }}{{ t }}{% endfor %}{% endfor %}",
  "{% assign x = items | map: 'price' | compact | first %}{{ x }}{% capture y %}<{{ x }}>{% endcapture %}{{ y }}{% increment c %}{% increment c %}{{ c }}{% decrement d %}",
  "{% assign name = 'inner' %}{{ name }}{% for name in items %}{{ name.name }}{% endfor %}{{ name }}",
  "{% case n %}{% when 1, 2 %}a{% if no %}x{% else %}y{% endif %}{% else %}b{% endcase %}{% cycle 'a', 'b' %}{% cycle 'a', 'b' %}",
  "{% tablerow i in (1..4) cols: 2 %}{{ i }}{{ tablerowloop.col }}{% endtablerow %}",
  "{% comment %}{{ x }}{% endcomment %}{% raw %}{{ x }}{% endraw %}{% # note %}{% liquid\n assign z = 3\n echo z | plus: 1\n if z\n echo 'in'\n endif %}",
  "{{- name -}} x {%- if name -%} y {%- endif -%} z {{- ' w ' -}}",
  "{% given %}{% told %}{% if name %}{% given %}{% endif %}",
  "{% include 'part' %}{% render 'part', name: n %}{% render 'part' for items as name %}{% include key %}",
  "{% layout 'frame' %}{% block main %}{{ name }}{{ block.super }}{% endblock %}",
  "{% if name %}{% break %}{% endif %}after",
  "one\n{{ name | date: 3, 'x' | no_such }}",
  "one\n  {% if name %}{{ items | sum: 'a.b.' }}{% endif %}",
  "one\n{% include 'broken' %}",
  "one\n{% if true %}\n {% include 'deep' %}{% endif %}",
  "{{ day | date: '%-d %B' }}{{ 'now' | date: '%F' }}{{ items | json }}{{ html | escape | upcase }}{{ nested }}",
  "{{ items | where: 'name', 'b' | map: 'price' }}{{ items | sort: 'price' | map: 'name' }}{{ items | sample | json }}",
  "{{ name[n] }}{{ n[name] }}{{ items['name'] }}{{ nested[items] }}{{ nested[nothing] }}{{ [n] }}",
])("%s", (source) => {
  expect(outcome(source, data, true)).toEqual(outcome(source, data, false));
});

/** Templates of what sites use, nested, with names that are there and that are not. */
const names =
  "name,n,items,nested.a.b.c,nested[key],items[0].name,items.first.tags,missing.x,item.name,forloop.index,x,empty_text,none,items.size,'t',3,nil,true,(1..n),nested['a']['b']";
const name = fc.constantFrom(...names.split(","));
const filters =
  "upcase/escape/size/first/json/plus: 1/append: name/default: 'd'/join: '-'/split: ''/map: 'name'/truncate: 3/date: '%Y'/divided_by: 0/slice: n/where: 'name', 'b'/times: n";
const filter = fc.constantFrom(...filters.split("/"));
const value = fc.tuple(name, fc.array(filter, { maxLength: 3 })).map(([first, rest]) => [first, ...rest].join(" | "));
const condition = fc.oneof(
  name,
  fc
    .tuple(name, fc.constantFrom("==", "!=", ">", "<", ">=", "<=", "contains", "and", "or"), name)
    .map((parts) => parts.join(" ")),
  name.map((one) => `not ${one}`),
);
const { template } = fc.letrec<{ template: string; node: string }>((tie) => ({
  template: fc.array(tie("node"), { maxLength: 4 }).map((nodes) => nodes.join("")),
  node: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom("a", "\n", " é ", "<p>"),
    value.map((one) => `{{ ${one} }}`),
    value.map((one) => `{{- ${one} -}}`),
    value.map((one) => `{% assign x = ${one} %}`),
    fc.constantFrom(
      "{% break %}",
      "{% continue %}",
      "{% given %}",
      "{% told %}",
      "{% include 'part' %}",
      "{% increment n %}",
    ),
    fc
      .tuple(condition, tie("template"), tie("template"))
      .map(([holds, a, b]) => `{% if ${holds} %}${a}{% else %}${b}{% endif %}`),
    fc.tuple(condition, tie("template")).map(([holds, a]) => `{% unless ${holds} %}${a}{% endunless %}`),
    fc.tuple(name, tie("template")).map(([of, a]) => `{% for item in ${of} limit: 3 %}${a}{% endfor %}`),
    fc.tuple(name, tie("template")).map(([of, a]) => `{% case ${of} %}{% when 't', 2 %}${a}{% else %}-{% endcase %}`),
    tie("template").map((a) => `{% capture x %}${a}{% endcapture %}`),
  ),
}));

test("any template gives the same", () => {
  fc.assert(
    fc.property(template, (source) => {
      expect(outcome(source, data, true)).toEqual(outcome(source, data, false));
    }),
    { numRuns: 1500 },
  );
});

test("any data gives the same", () => {
  const source =
    "{{ a }}{{ a.b }}{{ a.b.size }}{{ a.first }}{% if a == b %}1{% endif %}{% for x in a %}{{ x.b }}{{ x[0] }}{% endfor %}{{ a | json }}{{ a.b | upcase }}";
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const given = { a, b };
      expect(outcome(source, given, true)).toEqual(outcome(source, given, false));
    }),
    { numRuns: 1000 },
  );
});

test("any limit is reached at the same place", () => {
  const source =
    "{% for i in items %}{{ i.name | upcase }}\n{% if i.price > 5 %}{{ i.price }}{% endif %}{% endfor %}{{ name }}";
  for (let steps = 1; steps < 60; steps++)
    expect([steps, outcome(source, data, true, { steps })]).toEqual([steps, outcome(source, data, false, { steps })]);
  for (let outputChars = 1; outputChars < 20; outputChars++)
    expect(outcome(source, data, true, { outputChars })).toEqual(outcome(source, data, false, { outputChars }));
  expect(outcome(source, data, true).steps).toBeLessThan(limits.steps);
});

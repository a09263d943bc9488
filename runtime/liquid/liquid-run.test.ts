/** What belongs to one rendering stays with it, even while others go on between two of its steps. */
import { expect, test } from "bun:test";
import { Tag, toPromise, type Context, type Emitter } from "liquidjs";
import { GuardedLiquid } from "./liquid-engine.ts";
import { customFilter } from "./liquid-filters.ts";
import { BoundedEmitter } from "./liquid-guard.ts";
import { createLiquid } from "./liquid.ts";
import { createRuns, type RenderOptions } from "./liquid-run.ts";

/** Renders with a pause at every step of LiquidJS, so that renderings that begin together take turns. */
function slowly(templates: Record<string, string>) {
  const engine = new GuardedLiquid(true);
  const runs = createRuns<string>(engine, {});
  const turns: (string | undefined)[] = [];
  class Whose extends Tag {
    *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
      yield Promise.resolve();
      turns.push(runs.dataOf(context));
      emitter.write(runs.dataOf(context));
    }
  }
  engine.registerTag("whose", Whose);
  engine.registerFilter(
    "own",
    customFilter("own", () => "nobody's"),
  );
  const render = async (name: string, options: RenderOptions<string>): Promise<string> => {
    const { nodes } = engine.read(templates[name] ?? "");
    const context = runs.start({ name }, options, { sync: false });
    const emitter = new BoundedEmitter(context);
    await toPromise(engine.renderer.renderTemplates(nodes, context, emitter));
    return emitter.buffer;
  };
  return { render, turns };
}

const optionsOf = (whose: string, day: string, random: number): RenderOptions<string> => ({
  data: whose,
  clock: () => new Date(`${day}T12:00:00Z`),
  random: () => random,
  partials: (name) => `<${whose} ${name} {{ inner }}>`,
  filters: { own: () => whose },
});

test.each([
  ["data for tags", "{% whose %}", "A", "B"],
  ["clocks", "{{ 'now' | date: '%F' }}", "2026-01-05", "2031-12-24"],
  ["random sources", "{{ 'x,y' | split: ',' | sample }}", "x", "y"],
  ["filters", "{{ 1 | own }}", "A", "B"],
  ["partials that are rendered", "{% render 'part', inner: name %}", "<A part a>", "<B part b>"],
  ["partials that are included", "{% include 'part' %}", "<A part >", "<B part >"],
  ["layouts", "{% layout 'frame' %}", "<A frame >", "<B frame >"],
])("renderings that take turns keep their own %s", async (_, source, first, second) => {
  const { render, turns } = slowly({ a: `{% whose %}${source}|`.repeat(3), b: `{% whose %}${source}|`.repeat(3) });
  const both = await Promise.all([
    render("a", optionsOf("A", "2026-01-05", 0)),
    render("b", optionsOf("B", "2031-12-24", 0.9)),
  ]);
  if (source.startsWith("{% layout")) expect(both).toEqual([`A${first}`, `B${second}`]);
  else expect(both).toEqual([`A${first}|`.repeat(3), `B${second}|`.repeat(3)]);
  expect(turns.slice(0, 2)).toEqual(["A", "B"]);
});

test("a rendering within another one leaves the outer one as it was", () => {
  const liquid = createLiquid<string>();
  liquid.registerTag(
    "inner",
    class extends Tag {
      render(context: Context, emitter: Emitter): void {
        if (liquid.dataOf(context) === "outer")
          emitter.write(liquid.renderSync("[{% inner %}]", {}, { data: "inner" }));
        emitter.write(liquid.dataOf(context) ?? "none");
      }
    },
  );
  expect(liquid.renderSync("{% inner %}{% inner %}", {}, { data: "outer" })).toBe("[inner]outer[inner]outer");
  expect(liquid.renderSync("{% inner %}", {})).toBe("none");
});

test.each([
  ["{{ a }} text", []],
  ["{% assign a = 1 %}{% echo a %}", ["assign", "echo"]],
  [
    "{% if a %}{% for b in c %}{% break %}{% else %}{% increment d %}{% endfor %}{% endif %}",
    "break increment for if".split(" "),
  ],
  ["{% case a %}{% when 1 %}{% cycle 'x' %}{% else %}{% cycle 'y' %}{% endcase %}", ["cycle", "cycle", "case"]],
  ["{% liquid\nassign a = 1\nunless a\necho a\nendunless %}", ["assign", "echo", "unless", "liquid"]],
  ["{% capture a %}{% echo b %}{% endcapture %}{% raw %}{% echo b %}{% endraw %}", ["echo", "capture", "raw"]],
  ["{% comment %}{% echo b %}{% endcomment %}{% # echo b %}", ["comment", "#"]],
  ["{% tablerow a in b %}{% echo a %}{% endtablerow %}", ["echo", "tablerow"]],
])("the tags of %s are listed, however deep they stand", (source, names) => {
  const liquid = createLiquid();
  expect(liquid.parse(source).tags.map((tag) => tag.name)).toEqual(names);
  expect(liquid.parse(source)).toBe(liquid.parse(source));
});

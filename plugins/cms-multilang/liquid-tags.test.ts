import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { htmlTag, liquidTags, withTags } from "./liquid-tags.ts";

const texts = (template: string) => liquidTags(template).map(({ from, to }) => template.slice(from, to));

describe("Liquid in a template", () => {
  const table: [template: string, tags: string[]][] = [
    ["", []],
    ["a { b } c", []],
    ["{{ a }}", ["{{ a }}"]],
    ["x{% if a %}y{{ b }}z{% endif %}", ["{% if a %}", "{{ b }}", "{% endif %}"]],
    ["{{ a", []],
    ["{% a }} {{ b }}", ["{{ b }}"]],
    ["{{ a {% b %}", ["{% b %}"]],
    ["{{ a }} {{ b", ["{{ a }}"]],
    ["{{{ a }}}", ["{{{ a }}"]],
    ["{{ '}}' }}", ["{{ '}}"]],
    ["{{}}{%%}", ["{{}}", "{%%}"]],
    ["{{- a -}}", ["{{- a -}}"]],
  ];
  test.each(table)("%j", (template, tags) => expect(texts(template)).toEqual(tags));

  test("and what is between is the whole template, whatever it holds", () => {
    const pieces = fc.array(fc.constantFrom("{{", "}}", "{%", "%}", "a", "\n", "{", "%"), { maxLength: 30 });
    fc.assert(fc.property(pieces, (parts) => expect(withTags(parts.join(""), (tag) => tag)).toBe(parts.join(""))));
  });

  test("is read in time, even if nothing but openings stand there", () => {
    expect(liquidTags("{{".repeat(200_000))).toEqual([]);
    expect(liquidTags("{{{%".repeat(100_000))).toEqual([]);
  });

  test("is changed tag by tag, and nothing else is", () => {
    expect(withTags("a {{ a }} {% a %} a", (tag) => tag.replaceAll("a", "b"))).toBe("a {{ b }} {% b %} a");
  });
});

describe("the <html> tag", () => {
  const table: [template: string, tag: string | undefined][] = [
    ["<html>", "<html>"],
    ["<!doctype html>\n<HTML lang='pl'><head>", "<HTML lang='pl'>"],
    ['<html lang="{{ a | default: ">" }}">', '<html lang="{{ a | default: ">" }}">'],
    ["<html {% if a > b %}x{% endif %}>", "<html {% if a > b %}x{% endif %}>"],
    ["{{ '<html>' }}<p>", undefined],
    ["<htmlx>", undefined],
    ["<html", undefined],
    ["<p>", undefined],
  ];
  test.each(table)("of %s", (template, tag) => {
    const found = htmlTag(template);
    expect(found && template.slice(found.from, found.to)).toBe(tag);
  });
});

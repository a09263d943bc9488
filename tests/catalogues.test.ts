/** The catalogues of messages, `text/{en,pl,de}.json`: every language says the same, with the same values. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { isObject } from "platform";

const root = join(import.meta.dir, "..");
const english = [...new Bun.Glob("{runtime,plugins,sites}/**/text/en.json").scanSync(root)].toSorted();

/** A value that is not part of a language's own grammar: `count` may be said by the word of a plural form. */
const placeholder = /(?<!\{)\{(?!count\})\w{1,30}\}/g;
const pluralForms: Readonly<Record<string, readonly string[]>> = {
  en: ["one", "other"],
  pl: ["one", "few", "many", "other"],
  de: ["one", "other"],
};

/** `a.b` -> the placeholders of that message, or the faults of its plural. */
function shapeOf(language: string, messages: object, prefix = ""): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(messages).flatMap(([name, value]: [string, unknown]): [string, unknown][] => {
      const key = `${prefix}${name}`;
      if (isObject(value) && "other" in value) return [[key, pluralShape(language, value)]];
      if (isObject(value)) return Object.entries(shapeOf(language, value, `${key}.`));
      // A third one is for "new" as the language bends it, which English does not.
      if (Array.isArray(value)) return [[key, Math.min(value.length, 2)]];
      const said = typeof value === "string" ? value : "";
      return [[key, said.trim() === "" ? "blank" : (said.match(placeholder) ?? []).toSorted()]];
    }),
  );
}

function pluralShape(language: string, forms: Readonly<Record<string, unknown>>): unknown {
  const missing = pluralForms[language]?.filter((form) => typeof forms[form] !== "string" || forms[form] === "") ?? [];
  const placeholders = new Set(Object.values(forms).flatMap((form) => String(form).match(placeholder) ?? []));
  return { missing, placeholders: [...placeholders].toSorted() };
}

async function read(path: string): Promise<object> {
  const messages: unknown = await Bun.file(join(root, path)).json();
  if (!isObject(messages)) throw new Error(`${path} is not an object of messages`);
  return messages;
}

test("there are catalogues", () => {
  expect(english.length).toBeGreaterThan(15);
});

test.each(english)("%s is said in Polish and German, too, with the same values", async (path) => {
  const wanted = shapeOf("en", await read(path));
  expect(Object.entries(wanted).filter(([, shape]) => shape === "blank")).toEqual([]);
  for (const language of ["pl", "de"]) {
    const translated = shapeOf(language, await read(path.replace("en.json", `${language}.json`)));
    expect({ language, ...translated }).toEqual({ language, ...wanted });
  }
});

test("a missing message, value or plural form is found", () => {
  const en = { a: "Delete {name}", rows: { one: "{count} row", other: "{count} rows" } };
  const shape = shapeOf("en", en);
  const pl = { a: "Usuń {name}", rows: { one: "{count} wiersz", few: "x", many: "y", other: "z" } };
  expect(shapeOf("pl", pl)).toEqual(shape);
  expect(shapeOf("pl", { ...pl, a: "Usuń" })).not.toEqual(shape);
  expect(shapeOf("pl", { ...pl, rows: { one: "x", other: "z" } })).not.toEqual(shape);
  expect(shapeOf("pl", { a: pl.a })).not.toEqual(shape);
});

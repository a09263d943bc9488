import { expect, test } from "bun:test";
import { de, en, pl } from "./text.ts";

test.each([
  ["Polish", pl],
  ["German", de],
])("every message of the page is in %s, with the same examples", (_, words) => {
  expect(Object.keys(words)).toEqual(Object.keys(en));
  const examples = (all: object) =>
    JSON.stringify(all).match(/\{ [^}]{1,60} \}|realm_access\.roles|xms_edov|login\/with/g);
  expect(examples(words)).toEqual(examples(en));
});

import { expect, test } from "bun:test";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

test.each([
  ["Polish", pl],
  ["German", de],
])("every message of the page is in %s, with the same examples", (_, words) => {
  const examples = (all: object) =>
    JSON.stringify(all).match(/\{ [^}]{1,60} \}|realm_access\.roles|xms_edov|login\/with/g);
  expect(examples(words)).toEqual(examples(en));
});

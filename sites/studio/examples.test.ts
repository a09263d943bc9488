import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../tests/harness.ts";
import { exampleAddress, exampleValues, type Example, type Examples } from "./app/examples.ts";
import { filled, resourcesOf, type Resource } from "./app/resources.ts";
import { textOf } from "./app/values.ts";

const files = await Array.fromAsync(new Bun.Glob("plugins/*/studio/examples.ts").scan(`${import.meta.dir}/../..`));
const all: [string, Example][] = [];
for (const file of files) {
  const { examples }: { examples: Examples } = await import(`../../${file}`);
  all.push(...Object.entries(examples));
}

let app: TestApp;
let resources: readonly Resource[];
beforeAll(async () => {
  app = await startTestApp();
  resources = resourcesOf((await app.get("/openapi.json")).json);
  const program = [{ type: "return", value: "x" }];
  expect(
    (await app.post("/connect/flows.json", { flow: { name: "First", code: "first", fields: { program } } })).status,
  ).toBe(201);
});
afterAll(() => app.stop());

// What others need comes before them.
test.each(all.toSorted(([, a], [, b]) => Number(a.needs !== undefined) - Number(b.needs !== undefined)))(
  "the example of %s is made as it stands, in every language",
  async (path, example) => {
    const resource = resources.find((one) => one.path === path);
    const key = resource?.create?.body?.key;
    if (!resource?.create || key === undefined) throw new Error(`nothing is made at ${path}`);
    const { needs } = example;
    const first = needs && (await app.get(`${needs.path}.json?limit=1`)).json[0];
    for (const language of ["en", "pl", "de"] as const) {
      const values = exampleValues(example, language, first);
      const made = await app.post(resource.create.path, { [key]: values });
      expect([made.status, made.text]).toEqual([201, made.text]);
      expect(example.says[language]).toEndWith(".");
      // Its code is free again for the next language. The last one stays, for those that need it.
      if (language !== "de" && resource.remove)
        await app.request("DELETE", filled(resource.remove.path, [textOf(made.json.id)]));
    }
  },
);

describe("the address of a form with an example", () => {
  test("holds texts as they are, and what is no text as JSON", () => {
    const values = exampleValues(
      {
        says: { en: "", pl: "", de: "" },
        fields: { privileges: ["dbs"] },
        words: { en: { name: "A & B" }, pl: {}, de: {} },
      },
      "en",
    );
    expect(exampleAddress("/studio/account/tokens", values)).toBe(
      "/studio/account/tokens/new?privileges=%5B%22dbs%22%5D&name=A+%26+B",
    );
  });

  test("names the first one of the list that the example needs", () => {
    const needs = { path: "/connect/flows", field: "target_code", value: "code" };
    const values = exampleValues({ says: { en: "", pl: "", de: "" }, needs }, "pl", { code: "first" });
    expect(values).toEqual({ target_code: "first" });
  });
});

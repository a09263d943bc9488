import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../tests/harness.ts";
import {
  fieldsOf,
  inputsOf,
  mattering,
  messagesByField,
  startingValues,
  type FormField,
} from "./app/resources/forms.ts";
import { partsFor, sentOf } from "./app/forms/parts.ts";
import { filled, privilegesOf, resourcesOf, type Operation, type Resource } from "./app/resources/resources.ts";

let app: TestApp;
let resources: readonly Resource[] = [];
let known: { resources: readonly Resource[]; privileges: readonly string[] };
/** What the paths of the forms have in braces. */
let parents: readonly string[] = [];
beforeAll(async () => {
  app = await startTestApp();
  const { json } = await app.get("/openapi.json");
  resources = resourcesOf(json);
  known = { resources, privileges: privilegesOf(json) };
  const db = await app.post("/core/dbs.json", { db: { name: "Customers", schema: { fields: { name: "string" } } } });
  parents = [db.json.id];
  expect((await app.post("/cms/sites.json", { site: { code: "acme" } })).status).toBe(201);
});
afterAll(() => app.stop());

/** A form as it is opened. */
function opened({ body }: Operation) {
  const fields = body ? fieldsOf(body.schema, known) : [];
  return { fields, inputs: inputsOf(fields, startingValues(fields)), example: body?.example };
}

/** What it sends, and the fields that the answer misses, by the names that the form has for them. */
async function missing({ path, body }: Operation, fields: readonly FormField[], inputs: ReturnType<typeof inputsOf>) {
  const { values } = sentOf(fields, inputs, { record: startingValues(fields), isNew: true });
  const sent = { ...startingValues(fields), ...values };
  const answer = await app.post(filled(path, parents), body?.key === undefined ? sent : { [body.key]: sent });
  if (answer.status !== 422) return [];
  const wanting = Object.entries<string[]>(answer.json).filter(([, said]) =>
    said.some((words) => /^(is required|can't be blank|must be letters)/.test(words)),
  );
  return Object.keys(messagesByField(fields, Object.fromEntries(wanting)).byField);
}

/** As the form marks it: an object is marked where one of its parts is. */
function isMarked(field: FormField, inputs: ReturnType<typeof inputsOf>): boolean {
  return field.required || (partsFor(field, inputs).required ?? []).length > 0;
}

describe("a form marks what the API asks for", () => {
  test("in an empty form, and when only that is filled in", async () => {
    const wrong: string[] = [];
    const creates = resources.flatMap(({ create }) => create ?? []);
    expect(creates.length).toBeGreaterThan(15);
    for (const create of creates) {
      const { fields, inputs, example } = opened(create);
      const shown = mattering(fields, inputs);
      const marked = shown.filter((field) => isMarked(field, inputs));
      for (const name of await missing(create, fields, inputs))
        if (!marked.some((field) => field.name === name)) wrong.push(`${create.path} asks for ${name}`);
      // A form never shows a stored secret, but people type one.
      const secrets = marked.flatMap(({ kind, name }) => (kind === "secret" ? [[name, Object(example)[name]]] : []));
      const filledIn = { ...inputsOf(marked, Object(example)), ...Object.fromEntries(secrets) };
      for (const name of await missing(create, fields, { ...inputs, ...filledIn }))
        wrong.push(`${create.path} asks for ${name} of what is marked and filled in, or does not mark it`);
    }
    expect(wrong).toEqual([]);
  });

  test("and nothing that it does not ask for", async () => {
    const wrong: string[] = [];
    for (const { create } of resources) {
      if (!create) continue;
      const { fields, inputs, example } = opened(create);
      const marked = mattering(fields, inputs).filter((field) => isMarked(field, inputs));
      for (const one of marked) {
        const others = marked.filter((field) => field !== one);
        const left = { ...inputs, ...inputsOf(others, Object(example)) };
        if (!(await missing(create, fields, left)).includes(one.name))
          wrong.push(`${create.path} does without ${one.name}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});

test("a text that may also be empty is asked for in a line, and not as JSON", () => {
  const providers = resources.find(({ path }) => path === "/account/sign_in_providers");
  const fields = fieldsOf(providers?.create?.body?.schema ?? {}, known);
  expect(fields.find(({ name }) => name === "code")).toMatchObject({ kind: "line" });
});

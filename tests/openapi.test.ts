import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { adminPassword, otherAccount, startTestApp, type TestApp } from "./harness.ts";

/** The content of /openapi.json for every route, and that its examples are true. behaviour B.3. */
let app: TestApp;
let operations: Operation[];

interface Operation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string | undefined;
  readonly request: unknown;
  /** The optional fields under the body's key. */
  readonly fields: readonly string[] | undefined;
  /** Example by status; undefined where it has none. */
  readonly answers: Readonly<Record<string, unknown>>;
}

interface Documented {
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly example?: unknown; readonly schema?: Schema }>>;
}

interface Media {
  readonly schema: object;
  readonly example?: unknown;
}

interface Schema {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

beforeAll(async () => {
  app = await startTestApp();
  const { paths } = (await app.get("/openapi.json", { token: null })).json as {
    paths: Record<string, Record<string, Documented>>;
  };
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary, description, requestBody, responses }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method,
      path,
      summary,
      description,
      request: exampleOf(requestBody),
      fields: optionalFieldsOf(requestBody),
      answers: Object.fromEntries(Object.entries(responses).map(([status, answer]) => [status, exampleOf(answer)])),
    })),
  );
});
afterAll(() => app.stop());

function exampleOf(body: Content | undefined): unknown {
  return Object.values(body?.content ?? {})[0]?.example;
}

function optionalFieldsOf(body: Content | undefined): readonly string[] | undefined {
  const { required: [key = "", ...more] = [], properties = {} } = Object.values(body?.content ?? {})[0]?.schema ?? {};
  const inner = more.length === 0 ? properties[key]?.properties : undefined;
  return inner && Object.keys(inner).filter((name) => !properties[key]?.required?.includes(name));
}

/** Answers that have no body. */
const empty = new Set(["204", "303"]);

describe("every route in /openapi.json", () => {
  test("has one name for a database in what is below it", () => {
    const below = operations.filter(({ path }) => /^\/core\/dbs\/\{\w+\}\/\w/.test(path));
    expect(below.length).toBeGreaterThan(15);
    expect(below.filter(({ path }) => !path.startsWith("/core/dbs/{db_id}/"))).toEqual([]);
  });

  test("has a summary, and an example of what it answers", () => {
    expect(operations.length).toBeGreaterThan(100);
    expect(operations.filter(({ summary }) => !summary)).toEqual([]);
    const shown = ({ answers }: Operation) =>
      Object.entries(answers).some(([status, example]) => empty.has(status) || (status < "300" && example));
    expect(operations.filter((one) => !shown(one)).map(({ name }) => name)).toEqual([]);
  });

  test("has paths with .json and their parameters in braces", () => {
    const paths = new Set(operations.map(({ name }) => name));
    const specified = [
      "GET /core/prompts/{id}.md",
      "GET /core/prompt/{code}.md",
      "GET /account/api_tokens/{id}.json",
      "POST /core/apps/{id}/action/{action_name}",
      "GET /core/apps/{id}/action/{action_name}/status",
      "GET /a/{url_code}",
      "PATCH /core/dbs/{db_id}/replace.json",
      "GET /core/dbs/{db_id}/records.json",
      "GET /core/dbs/{db_id}/search.json",
      "POST /core/db/{db_code}/{method_name}",
      "POST /account/crons.json",
      "GET /w/{site_code}/{path}",
    ];
    expect(specified.filter((name) => !paths.has(name))).toEqual([]);
  });

  test("that takes an Idempotency-Key says 409, and one that honours If-Match 412", async () => {
    const without = operations.filter(
      ({ method, description = "", answers }) =>
        (method === "post" && !("409" in answers)) || (description.includes("If-Match") && !("412" in answers)),
    );
    expect(without.map(({ name }) => name)).toEqual([]);
    const versioned = operations.filter(({ answers }) => "412" in answers).map(({ name }) => name);
    const kinds = ["/core/prompts/", "/core/apps/", "/core/dbs/", "/cms/pages/", "/cms/sites/"].map(
      (path) => `${path}{id}`,
    );
    expect(versioned).toEqual(
      expect.arrayContaining(kinds.flatMap((path) => [`PATCH ${path}.json`, `DELETE ${path}.json`])),
    );
    expect(versioned).toContain("PATCH /core/apps/{id}/replace.json");
    expect(versioned).toContain("PATCH /core/dbs/{db_id}/replace.json");
  });

  test("names the refusals that its kind alone does not tell", () => {
    const refusals: [string, string[]][] = [
      ["POST /account/session.json", ["401", "403", "429"]],
      ["GET /core/prompts.json", ["422"]],
      ["GET /core/prompt/{code}.md", ["404", "422"]],
      ["DELETE /account/api_tokens/{id}.json", ["404", "422"]],
      ["GET /core/dbs/{db_id}/records.json", ["400"]],
      ["GET /core/dbs/{db_id}/export", ["400"]],
      ["GET /core/dbs/{db_id}/events", ["400"]],
      ["GET /core/db/{db_code}/{method_name}", ["400", "405"]],
      ["GET /core/prompts/{id}.md", ["304"]],
      ["GET /core/apps/{id}.json", ["304"]],
      ["GET /cms/pages/{id}.json", ["304", "409"]],
      ["GET /a/{url_code}", ["303", "304"]],
      ["GET /cms/sites/{id}/check.json", ["503"]],
      ["POST /connect/connectors/{code}/{method_name}.json", ["401", "403", "429", "502"]],
      ["GET /account/users.json", ["422"]],
    ];
    for (const [name, statuses] of refusals) {
      const answers = operations.find((one) => one.name === name)?.answers ?? {};
      expect([name, Object.keys(answers)]).toEqual([name, expect.arrayContaining(statuses)]);
    }
  });

  test("takes numbers as numbers and flags as flags in its query", async () => {
    const { paths } = (await app.get("/openapi.json", { token: null })).json as {
      paths: Record<
        string,
        Record<
          string,
          { parameters?: { in?: string; name?: string; schema?: { type?: string; anyOf?: { type: string }[] } }[] }
        >
      >;
    };
    const asked = Object.values(paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ parameters = [] }) => parameters.filter((one) => one.in === "query")),
    );
    const typesOf = (...names: string[]) =>
      new Set(asked.flatMap(({ name = "", schema }) => (names.includes(name) ? [schema?.type] : [])));
    expect(typesOf("limit", "offset", "team_id")).toEqual(new Set(["integer"]));
    expect(typesOf("wait")).toEqual(new Set(["number"]));
    expect(typesOf("active", "public", "dashboard_widget", "partial", "steps")).toEqual(new Set(["boolean"]));
    // Whether to count, and of a cron's schedule how many due times.
    expect(typesOf("count")).toEqual(new Set(["boolean", "integer"]));
    expect(typesOf("filter", "any")).toEqual(new Set(["object"]));
    const lists = asked.filter(({ schema }) => schema?.anyOf);
    expect(new Set(lists.map(({ schema }) => schema?.anyOf?.map(({ type }) => type).join()))).toEqual(
      new Set(["string,array"]),
    );
    const unclear = asked.filter((one) => one.schema?.type === undefined && !lists.includes(one));
    expect(unclear).toEqual([]);
  });

  test("that makes or changes something has an example of its request", () => {
    const without = operations.filter(({ method, request, answers }) => {
      const takesBody = "415" in answers; // the refusal of another type than JSON
      return method !== "get" && takesBody && request === undefined;
    });
    expect(without.map(({ name }) => name)).toEqual([]);
  });

  const lists = () =>
    operations.filter(
      ({ method, path, answers }) =>
        method === "get" && !/[{]|-\/|search|activity/.test(path) && Array.isArray(answers["200"]),
    );

  test("that lists something says how much there is, but for searches and the log of activity", async () => {
    const totals = await Promise.all(
      // The apps of a view need its `path`.
      lists().map(async ({ path }) => {
        const { headers } = await app.get(`${path}?path=contacts/index`);
        return [path, headers.get("x-total-count")] as const;
      }),
    );
    expect(totals.length).toBeGreaterThan(20);
    expect(totals.filter(([, total]) => !/^\d+$/.test(total ?? ""))).toEqual([]);
  });

  test("that lists something gives as much of it as `limit` and `offset` say", async () => {
    const wrong = await Promise.all(
      lists().map(async ({ path }) => {
        const at = `${path}?path=contacts/index`;
        const first = (await app.get(`${at}&limit=1`)).json;
        const beyond = (await app.get(`${at}&offset=1000`)).json;
        return Array.isArray(first) && first.length <= 1 && Array.isArray(beyond) && beyond.length === 0 ? [] : [path];
      }),
    );
    expect(wrong.flat()).toEqual([]);
  });

  test("shows no end in a request that will soon be past, and so refused", () => {
    const ends = operations.flatMap(({ request }) => [
      ...JSON.stringify(request ?? null).matchAll(/"expires_at":"(\d+)/g),
    ]);
    expect(ends.length).toBeGreaterThan(0);
    expect(ends.filter(([, year]) => Number(year) < 2030)).toEqual([]);
  });
});

describe("the schemas", () => {
  let document: {
    readonly paths: Record<string, Record<string, Documented>>;
    readonly components: { readonly schemas: Record<string, object> };
  };
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);

  beforeAll(async () => {
    document = (await app.get("/openapi.json", { token: null })).json;
    ajv.addSchema({ ...document, $id: "document" }, undefined, false, false);
  });

  /** Every body of a request or an answer, with its place in the document. */
  const bodies = (): (Media & { place: string; status: string })[] =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { requestBody, responses }]) =>
        Object.entries({ ...(requestBody && { request: requestBody }), ...responses }).flatMap(([status, body]) =>
          Object.entries(body.content ?? {}).map(([type, media]) => {
            const where = status === "request" ? ["requestBody"] : ["responses", status];
            const parts = ["paths", path, method, ...where, "content", type, "schema"];
            const pointer = parts.map((part) => `/${encodeURIComponent(part.replaceAll("/", "~1"))}`).join("");
            return { schema: {}, ...media, place: pointer, status };
          }),
        ),
      ),
    );

  test("are there for every body, and are schemas", () => {
    expect(bodies().length).toBeGreaterThan(200);
    const open = bodies().filter(({ schema }) => Object.keys(schema).length === 0);
    expect(open.map(({ place }) => decodeURIComponent(place))).toEqual([]);
    const wrong = bodies().filter(({ schema }) => ajv.validateSchema(schema) !== true);
    expect(wrong.map(({ place }) => decodeURIComponent(place))).toEqual([]);
    expect(Object.entries(document.components.schemas).filter(([, one]) => ajv.validateSchema(one) !== true)).toEqual(
      [],
    );
  });

  test("fit their examples", () => {
    const wrong: string[] = [];
    for (const { place, example } of bodies()) {
      if (example === undefined) continue;
      const validate = ajv.getSchema(`document#${place}`);
      if (!validate?.(example)) wrong.push(`${decodeURIComponent(place)}: ${ajv.errorsText(validate?.errors)}`);
    }
    expect(wrong).toEqual([]);
  });

  test("of lists, objects and refusals are shared", () => {
    const named = Object.keys(document.components.schemas);
    expect(named).toEqual(expect.arrayContaining(["Error", "FieldErrors", "Prompt"]));
    const used = JSON.stringify(document);
    expect(named.filter((name) => !used.includes(`"#/components/schemas/${name}"`))).toEqual([]);
  });

  test("every operation has a name of its own and its module's tag", () => {
    const all = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const ids = all.map(({ operationId = "" }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z][A-Za-z0-9]+$/.test(id))).toEqual([]);
    expect(ids).toEqual(expect.arrayContaining(["getCorePrompts", "patchCorePromptsId", "getHealth"]));
    const tags = new Set(all.flatMap(({ tags: own = [] }) => own));
    expect(tags).toContain("prompts");
    expect(tags).toContain("system");
    expect(all.filter(({ tags: own = [] }) => own.length !== 1)).toEqual([]);
  });

  test("is sent compressed, and not again to those who have it", async () => {
    const raw = await fetch(`${app.origin}/openapi.json`, {
      decompress: false,
      headers: { "accept-encoding": "br, gzip" },
    });
    expect([raw.status, raw.headers.get("content-encoding")]).toEqual([200, "br"]);
    expect((await raw.bytes()).length).toBeLessThan(JSON.stringify(document).length / 5);
    const headers = { "accept-encoding": "br, gzip", "if-none-match": raw.headers.get("etag") ?? "" };
    const again = await fetch(`${app.origin}/openapi.json`, { headers });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect(again.headers.get("x-request-id")).not.toBeNull();
  });

  test("/openapi is the same", async () => {
    expect((await app.get("/openapi", { token: null })).json).toEqual(document);
  });
});

/** Signs in with the example's password or code, which nobody has; needs a fresh session, a mail server, or a file. */
const notHere = new Set([
  "POST /account/session.json",
  "POST /account/session/second_factor.json",
  "POST /account/session/second_factor/setup.json",
  "POST /login",
  "POST /login/second_factor",
  "POST /account/session/passkey.json",
  "POST /account/session/passkey/options.json",
  "POST /account/me/passkeys.json",
  "POST /account/me/passkeys/options.json",
  "POST /account/me/totp.json",
  "POST /account/me/totp/confirm.json",
  "POST /account/me/recovery_codes.json",
  "POST /core/mail_server/test.json",
  "POST /account/invitations.json",
  "POST /account/password_resets.json",
  "POST /forgot_password",
  "POST /set_password",
  "POST /confirm_email",
  "POST /oauth/authorize",
  "POST /oauth/token",
  "POST /oauth/revoke",
  "POST /core/media.json",
  "POST /core/media_folders/rename.json",
  "POST /core/probe.json",
  // The example names no database.
  "POST /core/dbs/from_file.json",
  // The examples have no headers of tus.
  "POST /core/media/uploads.json",
]);

test("the examples make what they say they make", async () => {
  const makers = operations.filter(({ method, path, request }) => method === "post" && !path.includes("{") && request);
  const tried = makers.filter(({ name }) => !notHere.has(name));
  expect(tried.length).toBeGreaterThan(15);
  const failed: unknown[] = [];
  for (const { name, path, request, answers } of tried) {
    const answer = await app.post(path, request);
    const expected = Object(answers[answer.status]);
    const missing = Object.keys(expected).filter((key) => !Object.hasOwn(answer.json ?? {}, key));
    if (answer.status >= 300 || missing.length > 0) failed.push({ name, answer: answer.text, missing });
  }
  expect(failed).toEqual([]);
});

test("the examples make the same with null for all that they leave out", async () => {
  const other = await otherAccount(app);
  const makers = operations.filter(({ method, path }) => method === "post" && !path.includes("{"));
  // A domain's host belongs to a single account.
  const tried = makers.filter(({ name }) => !notHere.has(name) && name !== "POST /cms/domains.json");
  const failed: unknown[] = [];
  let nulls = 0;
  for (const { name, path, request, fields } of tried) {
    const [wrapped] = Object.entries(Object(request));
    if (!fields || !wrapped) continue;
    const [key, given] = wrapped;
    const left = fields.filter((field) => !Object.hasOwn(Object(given), field));
    nulls += left.length;
    const body = { [key]: { ...Object(given), ...Object.fromEntries(left.map((field) => [field, null])) } };
    const answer = await other.post(path, body);
    if (answer.status >= 300) failed.push({ name, body, answer: answer.text });
  }
  expect(failed).toEqual([]);
  expect(nulls).toBeGreaterThan(60);
});

test("and the sign-in of the example works with a password that is one", async () => {
  const session = operations.find(({ name }) => name === "POST /account/session.json");
  expect(Object.keys(session?.request as object)).toEqual(["login", "password"]);
  const answer = await app.post("/account/session.json", { login: "admin", password: adminPassword }, { token: null });
  expect(answer.status).toBe(201);
});

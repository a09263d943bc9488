/** The OpenAPI 3.1 description of every route, made from the routes themselves. */
import manifest from "../../../package.json" with { type: "json" };
import { Type, type TSchema } from "@sinclair/typebox";
import { answer, type Answers } from "../../http/answers/answers.ts";
import type { SystemRoute } from "../../http/http.ts";
import { sharedResponses, usualResponse, usualSchemas } from "./openapi-refusals.ts";
import { createSchemas, type Schemas } from "./openapi-schemas.ts";
import type { Access, Route } from "../../http/route.ts";

type Json = Record<string, unknown>;

interface Document extends Json {
  readonly paths: Record<string, Json>;
  readonly components: Json;
}

export function openapi(routes: readonly Route[], systemRoutes: readonly SystemRoute[], server: string): Document {
  const schemas = createSchemas(usualSchemas);
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = documentedPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, schemas) };
  }
  for (const { path, summary, responses: examples, answers } of systemRoutes) {
    const statuses = { 400: undefined, 503: undefined, ...examples };
    const operationId = idOf("GET", path === "/" ? "/root" : path);
    const responses = responsesOf({ examples: statuses, answers }, schemas);
    paths[path] = { get: { summary, operationId, tags: ["system"], security: [], responses } };
  }
  const shown = JSON.stringify(paths);
  const used = Object.entries(sharedResponses).filter(([name]) => shown.includes(`"#/components/responses/${name}"`));
  return {
    openapi: "3.1.0",
    info: {
      title: "Corestead",
      version: manifest.version,
      description: about,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: server }],
    security: [{ token: [] }, { session: [] }],
    paths,
    components: {
      securitySchemes,
      parameters: sharedParameters,
      headers: sharedHeaders,
      responses: Object.fromEntries(used),
      schemas: schemas.components(),
    },
  };
}

const about =
  "`.json` at the end of a path is optional. Every answer has `X-Request-Id`; a header `Warning` names what a request says " +
  "and the server does not know.";
const securitySchemes = {
  token: { type: "http", scheme: "bearer", description: "An API token: `Authorization: Bearer core_…`" },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "core_session",
    description:
      "A page that sends `X-Signed-In-As: <id of the person>` is refused with 401 once somebody else has signed in in the same browser",
  },
};

const headerParameter = (name: string, description: string) => ({
  name,
  in: "header",
  description,
  schema: { type: "string" },
});
const sharedParameters = {
  IfMatch: headerParameter("If-Match", "The ETag of the version that you have read; a later one: 412"),
  IfNoneMatch: headerParameter("If-None-Match", "The ETag that you have; the same one still: 304"),
  IdempotencyKey: headerParameter(
    "Idempotency-Key",
    "The same key and body within 24 hours gives the first answer again",
  ),
};
const sharedHeaders = {
  ETag: { schema: { type: "string" }, description: "The version of this object, for If-Match and If-None-Match" },
  TotalCount: { schema: { type: "integer" }, description: "How many there are on all pages" },
  NextCursor: { schema: { type: "string" }, description: "`after` of the next page, if there may be one" },
  Warning: {
    schema: { type: "string" },
    description:
      'What the request says and the server does not read, as `299 - "text"`, comma-separated; usually absent',
  },
};

/** `/core/notes/:id` -> `/core/notes/{id}.json`, the documented form of a path; `*` becomes `{path}`. */
function documentedPath(path: string): string {
  const named = path.replace(/:(\w+)/g, "{$1}").replace("*", "{path}");
  return /\.\w+$/.test(named) || !isResource(named) ? named : `${named}.json`;
}

/** Addresses that are written without `.json`. */
const written =
  /^\/(login|logout|forgot_password|set_password|confirm_email|oauth\/|\.well-known\/|a\/|w\/|media\/|_rt\/|core\/db\/|account\/auto_login)|\/action\/|\/(events|import|export)$/;

function isResource(path: string): boolean {
  return !written.test(path);
}

/** Must not change while the address stays the same: generated clients name their methods by it. */
function idOf(method: string, path: string): string {
  const words = path.replace("*", "path").replace(/[^a-z]+(\w)/gi, (_, letter) => letter.toUpperCase());
  return `${method.toLowerCase()}${words}`;
}

function tagOf({ plugin, path }: Route): string {
  return plugin ?? path.split("/")[1] ?? "";
}

function operation(route: Route, schemas: Schemas): Json {
  const { spec } = route;
  const inPath = [...documentedPath(route.path).matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    return { name, in: "path", required: true, schema: { type: "string" } };
  });
  const inQuery = queryParameters(spec, schemas);
  return {
    summary: spec.summary,
    ...(spec.description && { description: spec.description }),
    operationId: idOf(route.method, route.path),
    tags: [tagOf(route)],
    ...("open" in spec.access && { security: securityOf(spec.access) }),
    "x-access": accessText(spec.access),
    ...("privilege" in spec.access && { "x-privilege": spec.access.privilege }),
    ...(spec.shownAt !== undefined && { "x-shown-at": spec.shownAt }),
    ...(spec.when && { "x-when": spec.when }),
    parameters: [...inPath, ...inQuery, ...headerParameters(route)],
    ...requestBody(route, schemas),
    responses: responsesOf(
      {
        examples: {
          ...Object.fromEntries(usualStatuses(route).map((status) => [status, undefined])),
          ...spec.responses,
        },
        answers: spec.answers,
        query: spec.query,
        wrapped: spec.errors === "wrapped",
        mayWarn: true,
      },
      schemas,
    ),
  };
}

/** What comes first is what the examples use. */
function securityOf({ partly }: { readonly partly?: true }): Json[] {
  return partly ? [{ token: [] }, { session: [] }, {}] : [{}, { token: [] }, { session: [] }];
}

/** `filter[<field>]` and `filter[<field>][<operator>]` are documented as one parameter; `*` as any other one. */
function queryParameters({ query = {}, asks = {} }: Route["spec"], schemas: Schemas): Json[] {
  const families = new Map<string, { description: string; schema: Json }>();
  for (const [name, given] of Object.entries(query)) {
    const { description: _, ...bare } = typeof given === "string" ? { type: "string" } : schemas.of(given);
    const description = typeof given === "string" ? given : (given.description ?? "");
    const family = name.split("[", 1)[0] ?? name;
    const before = families.get(family);
    const isMany = family !== name || name === "*";
    const text = [before?.description, family === name ? description : `\`${name}\`: ${description}`];
    const schema = isMany ? { type: "object", additionalProperties: true } : bare;
    families.set(family, { description: text.filter(Boolean).join(" "), schema });
  }
  return [...families].map(([name, { description, schema }]) => {
    const style = name === "*" ? "form" : schema["type"] === "object" ? "deepObject" : undefined;
    const many = style && { style, explode: true };
    const shown = { name: name === "*" ? "others" : name, in: "query", description, ...many, schema };
    const example = exampleQuery(name, asks);
    // Of many names, none is needed for certain.
    return example === undefined ? shown : { ...shown, ...(!many && { required: true }), example };
  });
}

/** `{ q: "ann" }` -> "ann"; `{ "filter[city]": "Łódź" }` -> `{ city: "Łódź" }` */
function exampleQuery(name: string, asks: Readonly<Record<string, string>>): unknown {
  const parts = Object.entries(asks).flatMap(([key, value]) =>
    key.startsWith(`${name}[`) ? [[key.slice(name.length + 1, -1), value]] : [],
  );
  return asks[name] ?? (parts.length > 0 ? Object.fromEntries(parts) : undefined);
}

function headerParameters({ method, spec }: Route): Json[] {
  const names: (keyof typeof sharedParameters)[] = [];
  if (spec.ifMatch) names.push("IfMatch");
  if (spec.responses[304] !== undefined) names.push("IfNoneMatch");
  if (method === "POST" && (spec.input !== "stream" || spec.idempotency === "own")) names.push("IdempotencyKey");
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

function accessText(access: Access): string {
  if ("privilege" in access)
    return `needs the privilege \`${access.privilege}\`${access.or === undefined ? "" : `, or ${access.or}`}`;
  return "signedIn" in access ? `needs sign-in: ${access.signedIn}` : `open: ${access.open}`;
}

function requestBody({ spec }: Route, schemas: Schemas): Json {
  const { body, takes, request } = spec;
  if (takes) return { requestBody: { required: true, content: contentOf(takes, request, schemas) } };
  if (!body) {
    if (spec.input !== "any" && spec.input !== "fields") return {};
    const form = { schema: { type: "object" } };
    const content = {
      "application/json": { schema: { type: "object" }, ...(request !== undefined && { example: request }) },
      ...(spec.input === "fields" && { "application/x-www-form-urlencoded": form, "multipart/form-data": form }),
    };
    return { requestBody: { content } };
  }
  const beside = Object.fromEntries((body.beside ?? []).map((name) => [name, body.schema.properties[name]]));
  const within = Object.entries(body.schema.properties).filter(([name]) => !Object.hasOwn(beside, name));
  const fields = schemas.of(body.beside ? { ...body.schema, properties: Object.fromEntries(within) } : body.schema);
  const inside = { ...(body.key && { [body.key]: fields }), ...beside };
  const schema = body.key ? { type: "object", required: [body.key], properties: inside } : fields;
  const example = body.key && request !== undefined ? { [body.key]: request } : request;
  const media = { schema, ...(example !== undefined && { example }) };
  const form = spec.input === "form" && { "application/x-www-form-urlencoded": media };
  return { requestBody: { required: true, content: { "application/json": media, ...form } } };
}

interface ResponseOptions {
  /** By status; undefined if there is none, null if the body is empty. */
  readonly examples: Readonly<Record<number, unknown>>;
  readonly answers: Answers | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly wrapped?: boolean;
  /** Hints about the request go into the header `Warning`. */
  readonly mayWarn?: boolean;
}

function responsesOf(
  { examples, answers = {}, query = {}, wrapped, mayWarn }: ResponseOptions,
  schemas: Schemas,
): Json {
  const responses: Json = {};
  const warning = mayWarn ? { headers: { Warning: ref("Warning") } } : {};
  for (const status of new Set([...Object.keys(examples), ...Object.keys(answers)].map(Number))) {
    const example = examples[status];
    const own = answers[status];
    const { description, headers: usualHeaders, schema } = usualResponse(status, wrapped);
    const isUsual = own === undefined && (example === null || (example === undefined && !(wrapped && status === 422)));
    if (isUsual) {
      const isShared = Object.hasOwn(sharedResponses, status);
      responses[status] = isShared ? { $ref: `#/components/responses/${status}` } : { description, ...warning };
      continue;
    }
    const media = own ?? schema ?? (typeof example === "string" ? plainText : open);
    const headers = { ...(status < 300 ? headersOf(own, examples, query) : usualHeaders), ...warning.headers };
    responses[status] = {
      description,
      ...(Object.keys(headers).length > 0 && { headers }),
      content: contentOf([media].flat(), example, schemas),
    };
  }
  return { ...responses, default: { $ref: "#/components/responses/default" } };
}

/** The answer of a plugin that declares nothing. */
const open = Type.Unknown();
const plainText = answer.text("text/plain");

const ref = (name: keyof typeof sharedHeaders) => ({ $ref: `#/components/headers/${name}` });

function headersOf(
  own: Answers[number] | undefined,
  examples: ResponseOptions["examples"],
  query: Json,
): Json | undefined {
  const isList = own !== undefined && "type" in own && own["type"] === "array" && "limit" in query;
  if (304 in examples) return { ETag: ref("ETag") };
  if (!isList) return undefined;
  return { "X-Total-Count": ref("TotalCount"), ...("after" in query && { "X-Next-Cursor": ref("NextCursor") }) };
}

/** Each schema by its media type, with the example if it fits. */
function contentOf(media: readonly TSchema[], example: unknown, schemas: Schemas): Json {
  const entries = media.map((schema) => {
    const type = String(schema["contentMediaType"] ?? "application/json");
    const { contentMediaType: _, ...bare } = schemas.of(schema);
    const isText = "contentMediaType" in schema && schema["type"] === "string";
    const fits = example !== undefined && (typeof example === "string") === isText;
    return [type, { schema: bare, ...(fits && { example }) }];
  });
  return Object.fromEntries(entries);
}

/** What every route of this kind may answer beyond its own answers. */
function usualStatuses({ method, path, spec }: Route): number[] {
  const statuses = [400, 401, 403, 429, 503];
  if (/[:*]/.test(path)) statuses.push(404);
  if (spec.body || spec.input) statuses.push(413, 415);
  if (spec.body || spec.input || spec.query) statuses.push(422);
  if (method === "POST") statuses.push(409);
  if (method !== "GET") statuses.push(508);
  if (spec.ifMatch) statuses.push(412);
  return statuses;
}

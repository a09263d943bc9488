/** The OpenAPI 3.1 description of every route, made from the routes themselves. */
import type { SystemRoute } from "./http.ts";
import type { Access, Route } from "./route.ts";

type Json = Record<string, unknown>;

export function openapi(routes: readonly Route[], systemRoutes: readonly SystemRoute[], server: string): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = documentedPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  for (const { path, summary, responses: examples } of systemRoutes) {
    paths[path] = { get: { summary, tags: ["system"], security: [], responses: answers(examples) } };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Corestead", version: "0.1.0" },
    servers: [{ url: server }],
    security: [{ token: [] }],
    components: { securitySchemes, schemas: { Error: errorSchema, FieldErrors: fieldErrorsSchema } },
    paths,
  };
}

const securitySchemes = {
  token: { type: "http", scheme: "bearer", description: "An API token: `Authorization: Bearer core_…`" },
  session: { type: "apiKey", in: "cookie", name: "core_session" },
};
const errorSchema = { type: "object", required: ["error"], properties: { error: { type: "string" } } };
const fieldErrorsSchema = {
  type: "object",
  description: "Field name (or `base`) to messages",
  additionalProperties: { type: "array", items: { type: "string" } },
};

/** `/core/notes/:id` -> `/core/notes/{id}.json`: the form that the specification writes; what `*` stands for is `path`. */
function documentedPath(path: string): string {
  const named = path.replace(/:(\w+)/g, "{$1}").replace("*", "{path}");
  return /\.\w+$/.test(named) || !isResource(named) ? named : `${named}.json`;
}

/** Addresses that nobody writes with `.json`. */
const written = /^\/(login|logout|a\/|w\/|_rt\/|core\/db\/|account\/auto_login)|\/action\/|\/(events|import|export)$/;

function isResource(path: string): boolean {
  return !written.test(path);
}

function operation(route: Route): Json {
  const { spec } = route;
  const names = [...documentedPath(route.path).matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const inPath = names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } }));
  const inQuery = Object.entries(spec.query ?? {}).map(([name, description]) => ({
    name,
    in: "query",
    description,
    schema: { type: "string" },
  }));
  return {
    summary: spec.summary,
    ...(spec.description && { description: spec.description }),
    operationId: `${route.method.toLowerCase()}${route.path.replace(/[^a-z]+(\w)/gi, (_, letter) => letter.toUpperCase())}`,
    tags: [route.path.split("/").slice(1, 3).join("/")],
    ...("open" in spec.access && { security: [] }),
    "x-access": accessText(spec.access),
    parameters: [...inPath, ...inQuery],
    ...requestBody(route),
    responses: responses(route),
  };
}

function accessText(access: Access): string {
  if ("privilege" in access) return `needs the privilege \`${access.privilege}\``;
  return "signedIn" in access ? `needs sign-in: ${access.signedIn}` : `open: ${access.open}`;
}

function requestBody({ spec }: Route): Json {
  const { body } = spec;
  if (!body) {
    if (spec.request === undefined) return {};
    const type = typeof spec.request === "string" ? "text/csv" : "application/json";
    return { requestBody: { content: { [type]: { schema: {}, example: spec.request } } } };
  }
  const schema = body.key
    ? { type: "object", required: [body.key], properties: { [body.key]: body.schema } }
    : body.schema;
  const example = body.key && spec.request !== undefined ? { [body.key]: spec.request } : spec.request;
  const content = { "application/json": { schema, ...(example !== undefined && { example }) } };
  return { requestBody: { required: true, content } };
}

const descriptions: Record<number, string> = {
  200: "OK",
  201: "Created",
  204: "No content",
  303: "See other",
  400: "The request cannot be read",
  401: "No working credential",
  403: "The privilege is missing",
  404: "Not found",
  405: "Another method is needed",
  409: "Idempotency-Key used already",
  412: "The object has changed (If-Match)",
  413: "The body is too large",
  415: "Not JSON",
  422: "Fields to messages",
  429: "Too many requests, see Retry-After",
  503: "Not at this moment, see Retry-After",
};

function responses(route: Route): Json {
  const refusals = refusalStatuses(route).map((status) => {
    const schema = { $ref: `#/components/schemas/${status === 422 ? "FieldErrors" : "Error"}` };
    return [status, { description: descriptions[status], content: { "application/json": { schema } } }];
  });
  return { ...Object.fromEntries(refusals), ...answers(route.spec.responses) };
}

/** Of the examples by status: a string is a text body, null an empty one. */
function answers(examples: Readonly<Record<number, unknown>>): Json {
  const entries = Object.entries(examples).map(([status, example]) => {
    const type = typeof example === "string" ? "text/plain" : "application/json";
    const content = example !== null && { content: { [type]: { schema: {}, example } } };
    return [status, { description: descriptions[Number(status)] ?? "Answer", ...content }];
  });
  return Object.fromEntries(entries);
}

function refusalStatuses({ method, path, spec }: Route): number[] {
  const statuses = "open" in spec.access ? [] : "privilege" in spec.access ? [401, 403] : [401];
  if (path.includes(":")) statuses.push(404);
  if (spec.body || spec.input) statuses.push(400, 413, 415, 422);
  if (method === "POST") statuses.push(409);
  if (spec.ifMatch) statuses.push(412);
  return statuses;
}

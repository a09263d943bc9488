/** The `fields` of a custom connector: its methods and how its secret is sent. Pure. behaviour B.9. */
import { isObject, Type, type FieldErrors } from "platform";
import { climbs, isHeaderValue } from "./fill.ts";

const verbs = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] as const;
export type Verb = (typeof verbs)[number];

export interface Method {
  readonly method: Verb;
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined if the method declares none. */
  readonly body: unknown;
  readonly public: boolean;
  /** For the whole call. */
  readonly timeoutSeconds: number;
}

export interface Auth {
  readonly in: "header" | "query";
  readonly name: string;
  /** Precedes the secret and a space; "" = no prefix. */
  readonly prefix: string;
}

export const maxTimeoutSeconds = 60;
const standardTimeoutSeconds = 15;
const maxMethods = 100;
const maxPathChars = 2000;

type Fields = Readonly<Record<string, unknown>>;

/** For forms and documentation: `checkDefinition` decides. */
export const customFields = Type.Object({
  methods: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        "by name: `{ method, path, query, headers, body, public, description, timeout }`. `{name}` is filled from the parameters of a call",
    }),
  ),
  auth: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "how the secret is sent: `{ in, name, prefix }`, by default as `Authorization: Bearer …`",
    }),
  ),
});

/** The methods by name, in the order they were written. `checkDefinition` has accepted the fields. */
export function methodsOf(fields: Fields): Map<string, Method> {
  const methods = recordOf(fields["methods"]) ?? {};
  return new Map(Object.entries(methods).map(([name, given]) => [name, methodOf(recordOf(given) ?? {})]));
}

function methodOf(given: Fields): Method {
  const verb = typeof given["method"] === "string" ? given["method"].toUpperCase() : "GET";
  return {
    method: verbs.find((known) => known === verb) ?? "GET",
    path: typeof given["path"] === "string" ? given["path"] : "",
    query: recordOf(given["query"]) ?? {},
    headers: Object.fromEntries(Object.entries(recordOf(given["headers"]) ?? {}).map(([k, v]) => [k, String(v)])),
    body: given["body"] ?? undefined,
    public: given["public"] === true,
    timeoutSeconds: typeof given["timeout"] === "number" ? given["timeout"] : standardTimeoutSeconds,
  };
}

/** How the secret is sent; by default as `Authorization: Bearer <secret>`. */
export function authOf(fields: Fields): Auth {
  const given = recordOf(fields["auth"]) ?? {};
  const place = given["in"] === "query" ? "query" : "header";
  const name = typeof given["name"] === "string" ? given["name"] : "Authorization";
  const standard = place === "header" && name.toLowerCase() === "authorization" ? "Bearer" : "";
  return { in: place, name, prefix: typeof given["prefix"] === "string" ? given["prefix"].trim() : standard };
}

/** The mistakes of a custom connector's address and fields, by field. */
export function checkDefinition({ url, fields }: { url: string; fields: Fields }): FieldErrors {
  const found = new Map<string, string[]>();
  const add = (field: string, message: string) => found.set(field, [...(found.get(field) ?? []), message]);
  checkUrl(url, (message) => add("url", message));
  const wrong = (message: string) => add("fields", message);
  checkAuth(fields["auth"], wrong);
  const methods = recordOf(fields["methods"] ?? {});
  if (!methods) wrong("methods must be an object of method name to method");
  const entries = Object.entries(methods ?? {});
  if (entries.length > maxMethods) wrong(`methods may be at most ${maxMethods}`);
  for (const [name, given] of entries.slice(0, maxMethods)) checkMethod(name, given, wrong);
  return Object.fromEntries(found);
}

/** The mistakes of a request that says everything itself, by key. `isOpen`: what is decided only when the step runs. */
export function requestMistakes(
  { method, url, query, headers, body }: Readonly<Record<string, unknown>>,
  isOpen: (value: unknown) => boolean = () => false,
): FieldErrors {
  const found = new Map<string, string[]>();
  const wrong = (key: string, message: string) => found.set(key, [...(found.get(key) ?? []), message.trimStart()]);
  const isVerb = (value: unknown) => typeof value === "string" && verbs.some((known) => known === value.toUpperCase());
  if (!isOpen(method ?? "GET") && !isVerb(method ?? "GET")) wrong("method", `must be one of ${verbs.join(", ")}`);
  if (url === undefined || url === null || url === "") wrong("url", "is required");
  else if (typeof url !== "string") wrong("url", "must be a text");
  else if (!isOpen(url)) checkUrl(url, (message) => wrong("url", message));
  if (!isOpen(query) && query !== undefined && query !== null && !recordOf(query))
    wrong("query", "must be an object of name to value");
  const given = recordOf(headers);
  const known = given ? Object.fromEntries(Object.entries(given).filter(([, value]) => !isOpen(value))) : headers;
  if (!isOpen(headers)) checkHeaders(known, (message) => wrong("headers", message.replace(/^\.headers[.:]? ?/, "")));
  const hasBody = body !== undefined && body !== null && body !== "";
  if (hasBody && typeof method !== "string") wrong("body", "cannot be sent with GET");
  if (hasBody && typeof method === "string" && /^(?:GET|HEAD)$/i.test(method))
    wrong("body", `cannot be sent with ${method.toUpperCase()}`);
  return Object.fromEntries(found);
}

type AddMistake = (message: string) => void;

function checkUrl(url: string, wrong: AddMistake): void {
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:\/\//i.test(url)) return wrong("must be an absolute http or https address");
  if (parsed.username !== "" || parsed.password !== "")
    wrong("must not carry a user name or password: use secret_token");
  if (parsed.hash !== "") wrong("must not have a #fragment");
}

function checkAuth(given: unknown, wrong: AddMistake): void {
  if (given === undefined || given === null) return;
  const auth = recordOf(given);
  if (!auth) return wrong("auth must be an object { in, name, prefix }");
  if (!["header", "query", undefined].some((known) => known === (auth["in"] ?? undefined)))
    wrong("auth.in must be header or query");
  const name = auth["name"];
  if (auth["in"] === "query") {
    if (typeof name !== "string" || name === "")
      wrong("auth.name is required: the query parameter that carries the secret");
  } else if (name !== undefined && name !== null && (typeof name !== "string" || !isHeaderName(name)))
    wrong("auth.name must be the name of a header");
  const prefix = auth["prefix"];
  if (prefix !== undefined && prefix !== null && (typeof prefix !== "string" || !isHeaderValue(prefix)))
    wrong("auth.prefix must be a text of one line");
}

function checkMethod(name: string, given: unknown, wrongAt: AddMistake): void {
  const wrong: AddMistake = (message) => wrongAt(`methods.${name.slice(0, 100)}${message}`);
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) return wrong(": a method's name is letters, digits, - and _, at most 64");
  const method = recordOf(given);
  if (!method) return wrong(" must be an object");
  const verb = method["method"] ?? "GET";
  if (typeof verb !== "string" || !verbs.some((known) => known === verb.toUpperCase()))
    wrong(`.method must be one of ${verbs.join(", ")}`);
  checkPath(method["path"], wrong);
  checkQuery(method["query"], wrong);
  checkHeaders(method["headers"], wrong);
  const { body } = method;
  if (body !== undefined && body !== null) {
    if (typeof verb === "string" && /^(GET|HEAD)$/i.test(verb))
      wrong(`.body cannot be sent with ${verb.toUpperCase()}`);
    if (typeof body !== "string" && !isObject(body) && !Array.isArray(body))
      wrong(".body must be an object, an array or a text");
  }
  if (typeof (method["public"] ?? false) !== "boolean") wrong(".public must be true or false");
  const { description } = method;
  const timeout = method["timeout"] ?? standardTimeoutSeconds;
  if (description !== undefined && description !== null && typeof description !== "string")
    wrong(".description must be a text");
  if (!(typeof timeout === "number" && timeout > 0 && timeout <= maxTimeoutSeconds))
    wrong(`.timeout must be a number of seconds up to ${maxTimeoutSeconds}`);
}

function checkPath(path: unknown, wrong: AddMistake): void {
  if (path === undefined || path === null || path === "") return;
  if (typeof path !== "string") return wrong(".path must be a text");
  const [place = ""] = path.split("?");
  if (path.length > maxPathChars) wrong(`.path may have at most ${maxPathChars} characters`);
  // Otherwise `//host/…` or `https://host/…` would leave the address of the connector.
  if (!/^\/?[^/\\:]/.test(place) && !/^\/?$/.test(place))
    wrong(".path must be a path below the url, not another address");
  if (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(place)) wrong(".path must be a path below the url, not another address");
  // oxlint-disable-next-line eslint/no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u0020\\#]/.test(path)) wrong(".path must not have blanks, \\ or #");
  if (climbs(place)) wrong(".path must not have . or .. as a segment");
}

function checkQuery(query: unknown, wrong: AddMistake): void {
  if (query === undefined || query === null) return;
  if (!recordOf(query)) wrong(".query must be an object of name to value");
}

function checkHeaders(given: unknown, wrong: AddMistake): void {
  if (given === undefined || given === null) return;
  const headers = recordOf(given);
  if (!headers) return wrong(".headers must be an object of name to text");
  for (const [name, value] of Object.entries(headers)) {
    if (!isHeaderName(name)) wrong(`.headers: "${name.slice(0, 100)}" is not the name of a header`);
    else if (forbiddenHeaders.has(name.toLowerCase())) wrong(`.headers: ${name} is set by the server itself`);
    if (!["string", "number", "boolean"].includes(typeof value)) wrong(`.headers.${name} must be a text`);
    else if (!isHeaderValue(String(value))) wrong(`.headers.${name} must be a text of one line`);
  }
}

const forbiddenHeaders = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "expect",
  "upgrade",
  "te",
]);

function isHeaderName(name: string): boolean {
  return /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name);
}

/** The value as an object of names, or undefined. */
export function recordOf(value: unknown): Record<string, unknown> | undefined {
  return isObject(value) ? value : undefined;
}

/** Codes of connectors and flows, which are found by id or code. Pure. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text);
}

/** Whether it can be a code: the database is not asked for anything else. */
export function isCode(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,100}$/.test(text);
}

/** The mistake of a code that is to be saved, or undefined. */
export function codeMistake(code: string): string | undefined {
  if (isUuid(code)) return "must not have the form of an id";
  // Routes cut `.json` off the end of a path.
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(code) || /\.(json)?$/.test(code)) return "must be letters, digits, - and _";
  return undefined;
}

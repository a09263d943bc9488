/** A connector: the way to another service, with a sealed secret. behaviour 4.3, B.9. */
import { column, field, filter, isObject, mistakes, resource, unknownNames, type At, type Author } from "platform";
import type { DraftOf, PatchOf, RowOf } from "platform";
import type { ConnectorKind } from "./api.ts";
import { codeMistake } from "./definition.ts";

const { code, flag, json, secret, text, usual } = column;

export const customKind = "core/custom_connector";
const maxFieldsChars = 500_000;
export const exampleUrl = "https://api.openweathermap.org/data/2.5";

const fields = {
  name: text({ ...usual.name, body: field.name(), example: "Weather" }),
  code: code({
    ...usual.code,
    body: field.line(100),
    from: "name",
    otherwise: "connector",
    example: "weather",
  }),
  kind: text({
    label: ["Kind of service", "Rodzaj usługi", "Art des Dienstes"],
    body: field.name(100),
    blank: customKind,
  }),
  url: text({ label: ["Address", "Adres", "Adresse"], body: field.line(2000), blank: "", example: exampleUrl }),
  secret_token: secret({
    label: ["Key", "Klucz", "Schlüssel"],
    help: [
      "From the service; never shown again.",
      "Od usługi; nie jest więcej pokazywany.",
      "Vom Dienst; wird nie wieder gezeigt.",
    ],
    body: field.line(10_000),
    place: secretPlace,
    info: secretInfo,
    example: "0a1b2c3d4e5f6a7b8c9dwxyz",
  }),
  fields: json({
    label: ["Methods and settings", "Metody i ustawienia", "Methoden und Einstellungen"],
    body: field.nullable(field.object()),
    blank: {},
    example: {
      auth: { in: "query", name: "appid" },
      methods: {
        current: {
          method: "GET",
          path: "/weather",
          query: { q: "{city}", units: "metric" },
          description: "Weather now",
        },
      },
    },
  }),
  active: flag({ ...usual.active, body: field.flag(), blank: true }),
};

export type ConnectorRow = RowOf<typeof fields, "uuid">;
export type ConnectorInput = DraftOf<typeof fields>;
export type ConnectorPatch = PatchOf<typeof fields>;

export interface ConnectorAt extends At<Author> {
  readonly kinds: ReadonlyMap<string, ConnectorKind>;
  readonly forget: (accountId: number, codes: readonly string[]) => Promise<void>;
}

export const Connector = resource("connector", {
  table: "connectors",
  path: "/connect/connectors",
  id: "uuid",
  byCode: true,
  privilege: "flows",
  model: "Core::Connector",
  fields,
  filters: {
    q: filter.searching(["name", "code"], "searches name and code; `*` and `%` are wildcards"),
    code: filter.exact(),
    kind: filter.exact(),
  },
  check({ kinds }: ConnectorAt, { given, before, after }) {
    const input = { ...after, url: after.url.trim() };
    checkConnector(kinds, input, given, before);
    return input;
  },
  hints: ({ kinds }, { kind, fields: given }) => fieldHints(kinds.get(kind), given),
  named: { noun: "a connector", keys: (row) => [row.code] },
  committed: ({ forget, caller }, { before, after }) =>
    forget(
      caller.account.id,
      [before, after].flatMap((row) => (row ? [row.code] : [])),
    ),
  example: { id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e0f" },
  request: ["name", "code", "kind", "url", "secret_token", "fields"],
  change: { active: false },
  docs: {
    get: { summary: "One connector, by id or code" },
    create: {
      description:
        "`secret_token` is encrypted at rest and never shown again. `{name}` in a method's path, query, headers and " +
        "body is filled from the parameters of a call.",
      refusals: { 422: { fields: ["methods.current.method must be one of GET, POST, …"] } },
    },
    change: {
      description:
        "`fields` replaces the whole object. A `secret_token` of null removes the secret; left out, it stays.",
    },
  },
});

/** Throws the 422 that names every mistake. `before` is the stored connector that the patch changes. */
export function checkConnector(
  kinds: ReadonlyMap<string, ConnectorKind>,
  input: ConnectorInput,
  { secret_token: given }: Pick<ConnectorPatch, "secret_token">,
  before?: Pick<ConnectorRow, "url" | "secretToken">,
): void {
  const found = mistakes();
  const wrongCode = codeMistake(input.code);
  if (wrongCode !== undefined) found.add("code", wrongCode);
  const kind = kinds.get(input.kind);
  const wrongSecret = given ? secretMistake(given, kind) : undefined;
  if (wrongSecret !== undefined) found.add("secret_token", wrongSecret);
  if (given === undefined && movesSecret(input.url, before))
    found.add("secret_token", "must be given again, or removed with null: the url has another scheme, host or port");
  if (JSON.stringify(input.fields).length > maxFieldsChars)
    found.add("fields", `may have at most ${maxFieldsChars} characters as JSON`);
  if (!kind) found.add("kind", `must be one of ${[...kinds.keys()].join(", ")}`);
  else if (kind.needsUrl && input.url === "") found.add("url", "can't be blank");
  else {
    const wrong = kind.check({ url: input.url, fields: input.fields, hasSecret: input.secretToken !== null });
    for (const [name, messages] of Object.entries(wrong)) for (const message of messages) found.add(name, message);
  }
  found.check();
}

const mostHints = 10;

/** Names the keys of `fields`, its methods and `auth` that nobody reads. */
function fieldHints(kind: ConnectorKind | undefined, given: ConnectorInput["fields"]): string[] {
  const { fields: schema, methodKeys } = kind ?? {};
  const hints = (value: unknown, known: readonly string[], place: string) =>
    isObject(value) ? unknownNames(Object.keys(value), known, (name) => `unknown key "${place}.${name}"`) : [];
  const methods = isObject(given["methods"]) ? Object.entries(given["methods"]) : [];
  return [
    ...(schema ? hints(given, Object.keys(schema.properties), "fields") : []),
    ...(methodKeys ? methods.flatMap(([name, method]) => hints(method, methodKeys, `fields.methods.${name}`)) : []),
    ...(schema?.properties["auth"] ? hints(given["auth"], ["in", "name", "prefix"], "fields.auth") : []),
  ].slice(0, mostHints);
}

function secretMistake(given: string, kind: ConnectorKind | undefined): string | undefined {
  return isOneLine(given) ? kind?.secretMistake?.(given) : "must be one line without control characters";
}

/** Whoever changes the address may not know the stored secret, and must not have it sent to a place of their own. */
function movesSecret(url: string, before: Pick<ConnectorRow, "url" | "secretToken"> | undefined): boolean {
  return Boolean(before?.secretToken) && originOf(before?.url ?? "") !== originOf(url);
}

/** Scheme, host and port of any scheme: `URL.origin` is "null" for those that browsers do not know. */
function originOf(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? `${parsed.protocol}//${parsed.host}` : url;
}

function isOneLine(given: string): boolean {
  // oxlint-disable-next-line eslint/no-control-regex -- control characters are what is looked for
  return !/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]/.test(given) && given.isWellFormed();
}

/** Enough of a secret to tell two apart, too little to use one. */
export function secretInfo(given: string): string {
  return given.length >= 16 ? `${given.slice(0, 4)}...${given.slice(-4)}` : "...";
}

/** What a secret is sealed for: it cannot be opened for another row. */
export function secretPlace(id: string | number): string {
  return `connectors.secret_token:${id}`;
}

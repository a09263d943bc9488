/** A connection and its actions, made without leaving the step that needs them. Pure. */
import { isMap } from "studio/exact";

export const verbs = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

export const services = ["core/custom_connector", "core/smtp", "core/llm"] as const;
export type Service = (typeof services)[number];

export interface NewConnection {
  readonly service: Service;
  readonly name: string;
  /** Of an HTTP service the address of its first action. */
  readonly address: string;
  readonly verb: string;
  readonly signIn: "none" | "bearer" | "header" | "query";
  /** The header or the parameter that carries the key. */
  readonly carrier: string;
  readonly key: string;
  /** Of a mail server, and of a language model. */
  readonly user: string;
  readonly from: string;
  readonly model: string;
}

/** An action as it is asked for: the path is below the address of the connection. */
export interface ActionDraft {
  readonly name: string;
  readonly verb: string;
  readonly path: string;
  readonly description: string;
}

type Values = Readonly<Record<string, unknown>>;

/** The name of a connection that has none: the host that it leads to. */
export function nameFor({ name, address }: Pick<NewConnection, "name" | "address">): string {
  return name.trim() || (URL.parse(address.trim())?.hostname ?? "").replace(/^(?:www|api)\./, "");
}

/** What the API is sent for a new connection, and the action that the step calls. */
export function bodyFor(draft: NewConnection): { readonly connector: Values; readonly method: string } {
  const { service, signIn, carrier, key, user, from, model } = draft;
  const address = draft.address.trim();
  const own = { name: nameFor(draft), kind: service, ...(key !== "" && { secret_token: key }) };
  if (service === "core/smtp")
    return { connector: { ...own, url: address, fields: filled({ user, from }) }, method: "send" };
  if (service === "core/llm") {
    const api = /^https:\/\/api\.anthropic\.com\b/.test(address) ? "anthropic" : "openai";
    return { connector: { ...own, url: address, fields: filled({ api, model }) }, method: "chat" };
  }
  const url = URL.parse(address);
  const path = url ? `${decoded(url.pathname)}${url.search}` : "";
  const method = methodName(path, draft.verb);
  const auth =
    signIn === "header"
      ? { in: "header", name: carrier }
      : signIn === "query"
        ? { in: "query", name: carrier }
        : undefined;
  const fields = { methods: { [method]: { method: draft.verb, path } }, ...(auth && { auth }) };
  return { connector: { ...own, url: url ? url.origin : address, fields }, method };
}

/** The `fields` of a connection with an action changed or added; under the same name it keeps what nothing here asks for. */
export function withAction(
  fields: Values,
  before: string | undefined,
  { name, verb, path, description }: ActionDraft,
): Values {
  const methods = isMap(fields["methods"]) ? fields["methods"] : {};
  const old = before === undefined ? undefined : methods[before];
  const { description: _, ...kept } = isMap(old) ? old : {};
  const next = { ...kept, method: verb, path, ...(description !== "" && { description }) };
  const others = Object.entries(methods).map(([key, value]) => (key === before ? [name, next] : [key, value]));
  return {
    ...fields,
    methods: Object.fromEntries(before === undefined || old === undefined ? [...others, [name, next]] : others),
  };
}

export function actionOf(fields: Values, name: string): ActionDraft {
  const methods = isMap(fields["methods"]) ? fields["methods"] : {};
  const found = methods[name];
  const given = isMap(found) ? found : {};
  const text = (key: string) => (typeof given[key] === "string" ? given[key] : "");
  return { name, verb: text("method").toUpperCase() || "GET", path: text("path"), description: text("description") };
}

/** `GET /v1/orders` is called `get-orders`. */
export function methodName(path: string, verb: string): string {
  const [place = ""] = path.split("?");
  const last =
    place
      .split("/")
      .filter((part) => part !== "" && !part.startsWith("{"))
      .at(-1) ?? "";
  const word = last.replaceAll(/[^A-Za-z0-9_-]/g, "");
  return word === "" ? "request" : `${verb.toLowerCase()}-${word}`.slice(0, 64);
}

/** Places for parameters are written in braces, which an address would escape. */
function decoded(path: string): string {
  return path.replaceAll(/%7B(\w+)%7D/gi, "{$1}").replace(/^\/$/, "");
}

function filled(values: Readonly<Record<string, string>>): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim() !== ""));
}

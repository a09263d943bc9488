/** A connector as it is to be stored, and everything that is wrong with it. Pure. */
import { isObject, mistakes, unknownNames } from "platform";
import type { ConnectorKind } from "./api.ts";
import { codeMistake } from "./code.ts";
import type { ConnectorInput, ConnectorRow } from "./store.ts";

/** The fields of a request; each may be missing. */
export interface ConnectorPatch {
  readonly name?: string;
  readonly code?: string | null;
  readonly kind?: string;
  readonly url?: string | null;
  /** Null or "" removes the secret; left out, it stays. */
  readonly secret_token?: string | null;
  readonly fields?: Readonly<Record<string, unknown>> | null;
  readonly active?: boolean;
}

type Before = Pick<ConnectorRow, "url" | "secretToken">;

export const customKind = "core/custom_connector";
const maxFieldsChars = 500_000;

/** Throws the 422 that names every mistake. `before` is the stored connector that the patch changes. */
export function checkConnector(
  kinds: ReadonlyMap<string, ConnectorKind>,
  input: ConnectorInput,
  { secret_token: secret }: Pick<ConnectorPatch, "secret_token">,
  before?: Before,
): void {
  const found = mistakes();
  const wrongCode = codeMistake(input.code);
  if (wrongCode !== undefined) found.add("code", wrongCode);
  const kind = kinds.get(input.kind);
  const wrongSecret = secret ? secretMistake(secret, kind) : undefined;
  if (wrongSecret !== undefined) found.add("secret_token", wrongSecret);
  if (secret === undefined && movesSecret(input.url, before))
    found.add("secret_token", "must be given again, or removed with null: the url has another scheme, host or port");
  if (JSON.stringify(input.fields).length > maxFieldsChars)
    found.add("fields", `may have at most ${maxFieldsChars} characters as JSON`);
  if (!kind) found.add("kind", `must be one of ${[...kinds.keys()].join(", ")}`);
  else if (kind.needsUrl && input.url === "") found.add("url", "can't be blank");
  else {
    const wrong = kind.check({ url: input.url, fields: input.fields, hasSecret: input.secretToken !== null });
    for (const [field, messages] of Object.entries(wrong)) for (const message of messages) found.add(field, message);
  }
  found.check();
}

const mostHints = 10;

/** Names the keys of `fields`, its methods and `auth` that nobody reads. */
export function fieldHints({ fields: schema, methodKeys }: ConnectorKind, fields: ConnectorInput["fields"]): string[] {
  const hints = (given: unknown, known: readonly string[], place: string) =>
    isObject(given) ? unknownNames(Object.keys(given), known, (name) => `unknown key "${place}.${name}"`) : [];
  const methods = isObject(fields["methods"]) ? Object.entries(fields["methods"]) : [];
  return [
    ...(schema ? hints(fields, Object.keys(schema.properties), "fields") : []),
    ...(methodKeys ? methods.flatMap(([name, method]) => hints(method, methodKeys, `fields.methods.${name}`)) : []),
    ...(schema?.properties["auth"] ? hints(fields["auth"], ["in", "name", "prefix"], "fields.auth") : []),
  ].slice(0, mostHints);
}

function secretMistake(secret: string, kind: ConnectorKind | undefined): string | undefined {
  return isOneLine(secret) ? kind?.secretMistake?.(secret) : "must be one line without control characters";
}

/** Whoever changes the address may not know the stored secret, and must not have it sent to a place of their own. */
function movesSecret(url: string, before: Before | undefined): boolean {
  return Boolean(before?.secretToken) && originOf(before?.url ?? "") !== originOf(url);
}

/** Scheme, host and port of any scheme: `URL.origin` is "null" for those that browsers do not know. */
function originOf(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? `${parsed.protocol}//${parsed.host}` : url;
}

function isOneLine(text: string): boolean {
  // oxlint-disable-next-line eslint/no-control-regex -- control characters are what is looked for
  return !/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]/.test(text) && text.isWellFormed();
}

/** Enough of a secret to tell two apart, too little to use one. */
export function secretInfo(given: string): string {
  return given.length >= 16 ? `${given.slice(0, 4)}...${given.slice(-4)}` : "...";
}

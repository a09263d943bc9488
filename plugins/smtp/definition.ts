/** Reads and checks a mail connector's `url` and `fields`. Pure. */
import { Type, type FieldErrors } from "platform";
import { placeholders, recordOf, type MethodFacts } from "../connectors/api.ts";
import { hasControl, parseAddress, splitList } from "./address.ts";

type Fields = Readonly<Record<string, unknown>>;

export const tlsModes = ["required", "optional", "none"] as const;
export type TlsMode = (typeof tlsModes)[number];

/** For forms and documentation: `checkDefinition` decides. */
export const connectorFields = Type.Object({
  user: Type.Optional(Type.String({ description: "whose password the secret is" })),
  from: Type.Optional(Type.String({ description: "e.g. `Shop <shop@example.com>`" })),
  reply_to: Type.Optional(Type.String()),
  methods: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        "mails by name: `{ to, cc, bcc, from, reply_to, subject, text, html, public }`, with `{name}` in their texts",
    }),
  ),
  tls: Type.Optional(
    Type.Union(
      tlsModes.map((mode) => Type.Literal(mode)),
      { description: "by default required, but for addresses of `OUTBOUND_ALLOW`" },
    ),
  ),
  ca: Type.Optional(Type.String({ maxLength: 100_000, description: "certificates as PEM" })),
  servername: Type.Optional(Type.String({ description: "the name in the certificate, if it is not the host" })),
});

export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (`smtps:`). */
  readonly secure: boolean;
  readonly user: string | undefined;
  /** Undefined = decided by the address. */
  readonly tls: TlsMode | undefined;
  readonly servername: string | undefined;
  readonly ca: string | undefined;
}

/** The templates of a declared method. */
export type Template = Readonly<Partial<Record<(typeof templateKeys)[number], string>>>;

const listKeys = ["to", "cc", "bcc", "from", "reply_to"] as const;
export const templateKeys = [...listKeys, "subject", "text", "html"] as const;
const maxMethods = 100;
const maxTemplateChars = 100_000;

/** The definition that `checkDefinition` accepted. */
export function serverOf(url: string, fields: Fields): MailServer {
  const { protocol, hostname, port } = new URL(url);
  const secure = protocol === "smtps:";
  const text = (key: string) => (typeof fields[key] === "string" && fields[key] !== "" ? fields[key] : undefined);
  return {
    host: hostname,
    port: port === "" ? (secure ? 465 : 587) : Number(port),
    secure,
    user: text("user"),
    tls: tlsModes.find((mode) => mode === fields["tls"]),
    servername: text("servername"),
    ca: text("ca"),
  };
}

/** The declared methods, then `send`. It takes whole mails, so it is never public and gets no events. */
export function methodsOf(fields: Fields): MethodFacts[] {
  const declared = Object.entries(recordOf(fields["methods"]) ?? {});
  return [
    ...declared.map(([name, method]) => ({ name, public: recordOf(method)?.["public"] === true })),
    { name: "send", public: false, onlyByName: true, parameters: ["to", "subject", "text"] },
  ];
}

export function templateOf(fields: Fields, name: string): Template | undefined {
  const method = recordOf(recordOf(fields["methods"])?.[name]);
  return (
    method &&
    Object.fromEntries(
      templateKeys.flatMap((key) => (typeof method[key] === "string" && method[key] ? [[key, method[key]]] : [])),
    )
  );
}

export function checkDefinition(given: { url: string; fields: Fields; hasSecret: boolean }): FieldErrors {
  const { fields } = given;
  const url = urlMistake(given.url);
  const wrong: string[] = [];
  for (const key of ["user", "from", "reply_to", "servername"]) {
    const value = fields[key];
    if (value === undefined || value === null) continue;
    if (typeof value !== "string" || hasControl(value) || value.length > 1000) wrong.push(`${key} must be one line`);
    else if (key === "from" && !parseAddress(value)) wrong.push("from must be a mail address");
    else if (key === "reply_to" && splitList(value).some((one) => !parseAddress(one)))
      wrong.push("reply_to must be a mail address");
  }
  if (given.hasSecret && !fields["user"]) wrong.push("user is required with a secret_token, which is its password");
  if (fields["user"] && !given.hasSecret) wrong.push("user needs a secret_token, which is its password");
  const { tls, ca } = fields;
  if (tls !== undefined && !tlsModes.some((mode) => mode === tls)) wrong.push(`tls must be ${tlsModes.join(", ")}`);
  if (tls === "none" && /^smtps:/i.test(given.url)) wrong.push("tls cannot be none with smtps://");
  if (ca !== undefined && !(typeof ca === "string" && ca.startsWith("-----BEGIN CERTIFICATE-----")))
    wrong.push("ca must be a certificate as PEM text");
  checkMethods(fields["methods"], (message) => wrong.push(message));
  return { ...(url === undefined ? {} : { url: [url] }), ...(wrong.length > 0 ? { fields: wrong } : {}) };
}

function urlMistake(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (!parsed || !/^smtps?:\/\/[^/]/i.test(url) || parsed.hostname === "")
    return "must be smtp://host:port or smtps://host:port";
  if (parsed.username !== "" || parsed.password !== "")
    return "must not carry a user name or password: use `user` in fields, and secret_token";
  if (!/^\/?$/.test(parsed.pathname) || parsed.search !== "" || parsed.hash !== "") return "must end after the port";
  return undefined;
}

function checkMethods(given: unknown, wrong: (message: string) => void): void {
  if (given === undefined || given === null) return;
  const methods = recordOf(given);
  if (!methods) return wrong("methods must be an object of method name to method");
  const entries = Object.entries(methods);
  if (entries.length > maxMethods) return wrong(`methods may be at most ${maxMethods}`);
  for (const [name, method] of entries)
    checkMethod(name, recordOf(method), (message) => wrong(`methods.${name.slice(0, 100)}${message}`));
}

function checkMethod(name: string, method: Fields | undefined, wrong: (message: string) => void): void {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) return wrong(": a method's name is letters, digits, - and _, at most 64");
  if (name === "send") return wrong(": send is a built-in method");
  if (!method) return wrong(" must be an object");
  for (const key of templateKeys) {
    const template = method[key];
    if (template === undefined || template === null) continue;
    if (typeof template !== "string") wrong(`.${key} must be a text`);
    else if (template.length > maxTemplateChars) wrong(`.${key} may have at most ${maxTemplateChars} characters`);
    else if (key !== "text" && key !== "html" && hasControl(template)) wrong(`.${key} must be one line`);
    else if (listKeys.some((list) => list === key)) checkAddresses(key, template, method["public"] === true, wrong);
  }
  if (!["to", "cc", "bcc"].some((key) => method[key])) wrong(".to is required");
  if (!method["subject"]) wrong(".subject is required");
  if (!method["text"] && !method["html"]) wrong(".text is required, or html");
  if (method["public"] !== undefined && typeof method["public"] !== "boolean") wrong(".public must be true or false");
}

function checkAddresses(key: string, template: string, isPublic: boolean, wrong: (message: string) => void): void {
  if (placeholders(template).length === 0) {
    if (splitList(template).some((one) => !parseAddress(one))) wrong(`.${key} must be a mail address`);
  } else if (isPublic && key !== "reply_to") {
    // Otherwise anyone could send any mail to any address through this server.
    wrong(`.${key} must be a fixed address, because the method is public`);
  }
}

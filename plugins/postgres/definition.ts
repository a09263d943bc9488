/** Reads and checks a database connector's `url` and `fields`. Pure. */
import { Type, type FieldErrors } from "platform";
import { recordOf, type MethodFacts } from "../connectors/api.ts";
import { parseStatement } from "./statement.ts";

type Fields = Readonly<Record<string, unknown>>;

export const tlsModes = ["required", "optional", "none"] as const;
export type TlsMode = (typeof tlsModes)[number];

/** For forms and documentation: `checkDefinition` decides. */
export const connectorFields = Type.Object({
  methods: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "statements by name: `{ sql, public, description, timeout }`; a `{name}` in the SQL is a parameter",
    }),
  ),
  allow_writes: Type.Optional(Type.Boolean({ description: "otherwise every transaction is read only" })),
  tls: Type.Optional(
    Type.Union(
      tlsModes.map((mode) => Type.Literal(mode)),
      { description: "by default required, but for addresses of `OUTBOUND_ALLOW`" },
    ),
  ),
  ca: Type.Optional(Type.String({ maxLength: 100_000, description: "certificates as PEM" })),
  servername: Type.Optional(Type.String({ description: "the name in the certificate, if it is not the host" })),
});

export interface DatabaseServer {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly password: string | null;
  /** Undefined = decided by the address. */
  readonly tls: TlsMode | undefined;
  readonly servername: string | undefined;
  readonly ca: string | undefined;
}

export const limits = { rows: 1000, bytes: 5_000_000, sqlChars: 100_000, params: 1000, methods: 100, seconds: 60 };
const standardSeconds = 15;

/** The definition that `checkDefinition` accepted. */
export function serverOf(url: string, fields: Fields, password: string | null): DatabaseServer {
  const { hostname, port, username, pathname } = new URL(url);
  const text = (key: string) => (typeof fields[key] === "string" && fields[key] !== "" ? fields[key] : undefined);
  return {
    host: hostname,
    port: port === "" ? 5432 : Number(port),
    user: decodeURIComponent(username),
    database: decodeURIComponent(pathname.slice(1)),
    password,
    tls: tlsModes.find((mode) => mode === fields["tls"]),
    servername: text("servername"),
    ca: text("ca"),
  };
}

export function mayWrite(fields: Fields): boolean {
  return fields["allow_writes"] === true;
}

/** The declared methods, then `query`. It takes SQL, so it is never public and gets no events. */
export function methodsOf(fields: Fields): MethodFacts[] {
  const declared = Object.entries(recordOf(fields["methods"]) ?? {});
  return [
    ...declared.map(([name, method]) => ({ name, public: recordOf(method)?.["public"] === true })),
    { name: "query", public: false, onlyByName: true, parameters: ["sql", "params"] },
  ];
}

/** The SQL of a declared method, and how long it may take. */
export function methodOf(fields: Fields, name: string): { sql: string; seconds: number } | undefined {
  const method = recordOf(recordOf(fields["methods"])?.[name]);
  const { sql, timeout } = method ?? {};
  if (typeof sql !== "string") return undefined;
  return { sql, seconds: typeof timeout === "number" ? timeout : standardSeconds };
}

export function checkDefinition({ url, fields }: { url: string; fields: Fields }): FieldErrors {
  const wrongUrl = urlMistake(url);
  const wrong: string[] = [];
  const { allow_writes: writes, tls, ca, servername, methods } = fields;
  if (writes !== undefined && typeof writes !== "boolean") wrong.push("allow_writes must be true or false");
  if (tls !== undefined && !tlsModes.some((mode) => mode === tls)) wrong.push(`tls must be ${tlsModes.join(", ")}`);
  if (ca !== undefined && !(typeof ca === "string" && ca.startsWith("-----BEGIN CERTIFICATE-----")))
    wrong.push("ca must be a certificate as PEM text");
  if (servername !== undefined && !(typeof servername === "string" && /^[\w.:-]{0,253}$/.test(servername)))
    wrong.push("servername must be a host name");
  checkMethods(methods, mayWrite(fields), (message) => wrong.push(message));
  return { ...(wrongUrl === undefined ? {} : { url: [wrongUrl] }), ...(wrong.length > 0 ? { fields: wrong } : {}) };
}

const form = "postgres://user@host:port/database";

function urlMistake(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (!parsed || !/^postgres(?:ql)?:\/\//i.test(url) || /[,%]/.test(parsed.hostname) || parsed.hostname === "")
    return `must be ${form}`;
  if (parsed.password !== "") return "must not carry a password: use secret_token";
  if (parsed.username === "" || !/^\/[^/]+$/.test(parsed.pathname)) return `must name user and database: ${form}`;
  if (!isEncoded(parsed.username) || !isEncoded(parsed.pathname)) return `has a % without a valid code: ${form}`;
  if (parsed.search !== "" || parsed.hash !== "")
    return "must end after the database: set `tls` and other options in fields";
  return undefined;
}

function isEncoded(text: string): boolean {
  try {
    return !decodeURIComponent(text).includes("\0");
  } catch {
    return false;
  }
}

function checkMethods(given: unknown, writes: boolean, wrong: (message: string) => void): void {
  if (given === undefined || given === null) return;
  const methods = recordOf(given);
  if (!methods) return wrong("methods must be an object of method name to method");
  const entries = Object.entries(methods);
  if (entries.length > limits.methods) return wrong(`methods may be at most ${limits.methods}`);
  for (const [name, method] of entries)
    checkMethod(name, recordOf(method), writes, (message) => wrong(`methods.${name.slice(0, 100)}${message}`));
}

function checkMethod(name: string, method: Fields | undefined, writes: boolean, wrong: (message: string) => void) {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) return wrong(": a method's name is letters, digits, - and _, at most 64");
  if (name === "query") return wrong(": query is a built-in method");
  if (!method) return wrong(" must be an object");
  const { sql, timeout, public: isPublic, description } = method;
  const mistake = sqlMistake(sql, writes);
  if (mistake !== undefined) wrong(`.sql ${mistake}`);
  if (isPublic !== undefined && typeof isPublic !== "boolean") wrong(".public must be true or false");
  if (description !== undefined && description !== null && typeof description !== "string")
    wrong(".description must be a text");
  if (timeout !== undefined && !(typeof timeout === "number" && timeout > 0 && timeout <= limits.seconds))
    wrong(`.timeout must be a number of seconds up to ${limits.seconds}`);
}

export function sqlMistake(sql: unknown, writes: boolean): string | undefined {
  if (sql === undefined || sql === null || sql === "") return "is required";
  if (typeof sql !== "string") return "must be a text";
  if (sql.length > limits.sqlChars) return `may have at most ${limits.sqlChars} characters`;
  if (sql.includes("\0")) return "must not have a NUL character";
  const statement = parseStatement(sql, writes);
  return "mistake" in statement ? statement.mistake : undefined;
}

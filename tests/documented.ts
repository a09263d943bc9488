/**
 * Whether an answer is one that /openapi.json describes: its status, its media type, and its body by its schema. The
 * harness asks it of every answer, so what a route answers and what the documentation says cannot drift apart.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

export interface Documented {
  /** Throws if the answer is not as documented. Requests that are not operations of the document are not checked. */
  check(asked: { readonly method: string; readonly path: string }, answer: Answered): void;
}

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas?: object; readonly responses: Readonly<Record<string, Response>> };
}

interface Operation {
  readonly responses: Readonly<Record<string, Response | { readonly $ref: string }>>;
}

interface Response {
  readonly headers?: object;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

export function documented(document: Document): Documented {
  const ajv = new Ajv2020({ strict: false, validateFormats: true });
  addFormats.default(ajv);
  ajv.addSchema({ ...document, $id: "document" }, undefined, false, false);
  const find = pathFinder(Object.keys(document.paths));
  // A schema is compiled when an answer first needs it.
  const validators = new Map<string, ValidateFunction>();
  const validatorAt = (pointer: string): ValidateFunction => {
    const made = validators.get(pointer) ?? ajv.getSchema(`document#${pointer}`);
    if (!made) throw new Error(`no schema at ${pointer}`);
    validators.set(pointer, made);
    return made;
  };

  /** The violation, or undefined. */
  const mistakeOf = (place: readonly string[], operation: Operation, answer: Answered): string | undefined => {
    const { status, headers, text } = answer;
    const key = status === 500 && !operation.responses[500] ? "default" : `${status}`;
    const own = operation.responses[key];
    if (!own) return "this status is not declared";
    const isShared = "$ref" in own;
    const { content, headers: named = {} } = (isShared ? document.components.responses[key] : own) ?? {};
    if (headers.has("warning") && !Object.hasOwn(named, "Warning")) return "its header Warning is not declared";
    if (!content) return text === "" ? undefined : "it has no body";
    const type = (headers.get("content-type") ?? "").split(";", 1)[0] ?? "";
    if (!Object.hasOwn(content, type)) return `the type "${type}" is not declared`;
    if (type !== "application/json") return undefined;
    const parts = [...(isShared ? ["components"] : place), "responses", key, "content", type, "schema"];
    const validate = validatorAt(parts.map(escaped).join(""));
    if (validate(JSON.parse(text))) return undefined;
    const [error] = validate.errors ?? [];
    return `${error?.instancePath || "/"} ${error?.message} ${JSON.stringify(error?.params)}`;
  };

  return {
    check({ method, path }, answer) {
      const template = find(path.split("?", 1)[0] ?? "");
      const verb = method.toLowerCase();
      const operation = template === undefined ? undefined : document.paths[template]?.[verb];
      if (template === undefined || !operation || isOpen(operation)) return;
      const mistake = mistakeOf(["paths", template, verb], operation, answer);
      if (mistake === undefined) return;
      const where = `${method} ${path}: ${answer.status} is not as ${template} of /openapi.json says`;
      throw new Error(`${where}: ${mistake}\n${answer.text.slice(0, 2000)}`);
    },
  };
}

/** A plugin need not declare what its routes answer with. */
function isOpen({ responses }: Operation): boolean {
  const successes = Object.entries(responses).filter(([status]) => status < "400");
  const media = successes.flatMap(([, one]) => ("$ref" in one ? [] : Object.values(one.content ?? {})));
  return successes.length === 0 || media.some(({ schema }) => Object.keys(schema).length === 0);
}

function escaped(part: string): string {
  return `/${encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))}`;
}

/** The documented path of an address: literal parts take precedence over parameters. */
function pathFinder(paths: readonly string[]) {
  const patterns = paths.map((path) => {
    const bare = path.replace(/\.json$/, "");
    const source = bare
      .replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&")
      .replaceAll("{path}", ".*")
      .replaceAll(/\{\w+\}/g, "[^/]+");
    return {
      path,
      pattern: new RegExp(`^${source}(?:\\.json)?$`),
      // What takes any rest of a path comes last.
      parameters: bare.includes("{path}") ? Infinity : bare.split("{").length,
      length: bare.length,
    };
  });
  const ordered = patterns.toSorted((a, b) =>
    a.parameters === b.parameters ? b.length - a.length : a.parameters - b.parameters,
  );
  return (asked: string): string | undefined => ordered.find(({ pattern }) => pattern.test(asked))?.path;
}

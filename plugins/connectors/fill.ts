/** Fills the `{name}`s of a method's templates with the parameters of a call, encoded for their place. Pure. */
import { escapeHtml, invalid, isObject, mistakes, unknownNames } from "platform";

type Params = Readonly<Record<string, unknown>>;

/** For all filled values together: a template may name a large parameter any number of times. */
const maxFilledChars = 10_000_000;

/** `{city}`, or a value within a parameter: `{event.data.id}`. */
const placeholder = /\{([A-Za-z_][\w-]*(?:\.[\w-]+)*)\}/g;

export interface Filler {
  /** URL-encoded. A blank value, `.` and `..` are mistakes. */
  path(template: string): string;
  /** The query of a path, URL-encoded. */
  encoded(template: string): string;
  /** One query parameter or form field, as `name=value`; an array gives several, null none. */
  pairs(name: string, template: unknown): string[];
  header(name: string, template: string): string;
  /** A JSON value: a string that is exactly one placeholder takes the parameter's type. */
  json(template: unknown): unknown;
  /** A text that is JSON: inside quotes escaped, outside as a JSON value. */
  jsonText(template: string): string;
  text(template: string): string;
  /** A text that is HTML: what is put in is text of it, never markup. */
  html(template: string): string;
  /** The parameters that no template has named. */
  unused(): Record<string, unknown>;
  /** Throws the 422 that names every missing parameter and every one that its place cannot hold. */
  check(): void;
}

export function createFiller(params: Params): Filler {
  const found = mistakes();
  const named = new Set<string>();
  const mistake = (name: string, message: string) => {
    const key = `${name} ${message}`;
    if (!named.has(key)) found.add(name, message);
    named.add(key);
  };
  const known = new Map<string, { readonly value: unknown; readonly chars: number }>();
  let filledChars = 0;
  const valueOf = (name: string): unknown => {
    let parameter = known.get(name);
    if (!parameter) {
      const value = lookUp(params, name);
      if (value === undefined) mistake(name, "is required");
      known.set(name, (parameter = { value, chars: plain(value).length }));
    }
    filledChars += parameter.chars;
    if (filledChars > maxFilledChars)
      throw invalid({ [name]: [`makes the request larger than ${maxFilledChars} characters`] });
    return parameter.value;
  };
  const replace = (template: string, print: (value: unknown, name: string) => string) =>
    template.replaceAll(placeholder, (_, name: string) => print(valueOf(name), name));
  const json = (template: unknown): unknown => {
    if (typeof template === "string") {
      const only = onlyPlaceholder(template);
      return only === undefined ? replace(template, plain) : (valueOf(only) ?? null);
    }
    if (Array.isArray(template)) return template.map(json);
    if (!isObject(template)) return template;
    return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, json(value)]));
  };

  return {
    json,
    text: (template) => replace(template, plain),
    html: (template) => replace(template, (value) => escapeHtml(plain(value))),
    encoded: (template) => replace(template, (value) => encode(plain(value))),
    path: (template) => {
      const filled = replace(template, (value, name) => {
        const text = plain(value);
        if (value !== undefined && text === "") mistake(name, "can't be blank in a path");
        if (isObject(value) || Array.isArray(value)) mistake(name, "must be a text or a number in a path");
        return encode(text);
      });
      // Encoding leaves dots alone, and a segment of dots would climb.
      if (climbs(filled))
        for (const [, name = ""] of template.matchAll(placeholder)) mistake(name, "must not be . or .. in a path");
      return filled;
    },
    pairs: (name, template) => {
      return formPairs(name, json(template));
    },
    header: (name, template) => {
      const filled = replace(template, plain);
      if (isHeaderValue(filled)) return filled;
      for (const [, parameter = ""] of template.matchAll(placeholder)) {
        if (!isHeaderValue(plain(lookUp(params, parameter)))) mistake(parameter, `cannot stand in the header ${name}`);
      }
      return "";
    },
    jsonText: (template) => {
      let inString = false;
      let from = 0;
      let filled = "";
      for (const match of template.matchAll(placeholder)) {
        const before = template.slice(from, match.index);
        inString = endsInString(before, inString);
        const value = valueOf(match[1] ?? "") ?? null;
        filled += before + (inString ? JSON.stringify(plain(value)).slice(1, -1) : JSON.stringify(value));
        from = match.index + match[0].length;
      }
      return filled + template.slice(from);
    },
    unused: () => {
      const used = new Set([...known.keys()].map((name) => (Object.hasOwn(params, name) ? name : name.split(".")[0])));
      return Object.fromEntries(Object.entries(params).filter(([name]) => !used.has(name)));
    },
    check: found.check,
  };
}

/** A form field, or several of an array. */
export function formPairs(name: string, value: unknown): string[] {
  const values = Array.isArray(value) ? value : [value];
  return values
    .filter((one) => one !== null && one !== undefined)
    .map((one) => `${encode(name)}=${encode(plain(one))}`);
}

/** Names the parameters of a call that its method does not read. */
export function paramHints(
  { name, takesOnly }: { readonly name: string; readonly takesOnly?: readonly string[] | undefined },
  params: Readonly<Record<string, unknown>>,
): string[] {
  if (!takesOnly) return [];
  const given = Object.keys(params).filter((one) => !takesOnly.includes(one.split(".")[0] ?? one));
  return unknownNames(given, takesOnly, (one) => `the method "${name}" has no place for the parameter "${one}"`);
}

/** The names of the parameters in a template. */
export function placeholders(template: string): string[] {
  return [...template.matchAll(placeholder)].map(([, name = ""]) => name);
}

/** Whether a path has a segment that leads upwards, also as `%2e`. */
export function climbs(path: string): boolean {
  return path.split(/[/\\]/).some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}

/** Whether HTTP allows it as a header's value: Latin 1 without line breaks and other control characters. */
export function isHeaderValue(text: string): boolean {
  return /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(text);
}

function lookUp(params: Params, name: string): unknown {
  if (Object.hasOwn(params, name)) return params[name];
  let value: unknown = params;
  for (const key of name.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

function onlyPlaceholder(template: string): string | undefined {
  const [match] = template.matchAll(placeholder);
  return match?.[0] === template ? match[1] : undefined;
}

/** A value as text: objects and arrays as JSON, null as "". */
function plain(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  return JSON.stringify(value) ?? "";
}

/** Half a surrogate pair has no encoding. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** Whether JSON that begins inside or outside a string ends inside one. */
function endsInString(text: string, startsInString: boolean): boolean {
  let inString = startsInString;
  for (let at = 0; at < text.length; at++) {
    if (inString && text[at] === "\\") at++;
    else if (text[at] === '"') inString = !inString;
  }
  return inString;
}

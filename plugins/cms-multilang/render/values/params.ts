/** `params`: the query of the visitor's request, already escaped. behaviour B.11. */
import { escapeHtml } from "platform";
import { emptyValues, type Values } from "./fields.ts";

export interface Params {
  readonly values: Values;
  /** Whether a template has read them. Then the output belongs to this request alone. */
  readonly used: () => boolean;
}

const maxParams = 50;
const maxNameChars = 100;
const maxValueChars = 1000;

export function createParams(query: URLSearchParams): Params {
  let isUsed = false;
  const use = <T>(value: T): T => {
    isUsed = true;
    return value;
  };
  const given = readable(query);
  const values = new Proxy(given, {
    get: (target, key) => use(Reflect.get(target, key)),
    has: (target, key) => use(Reflect.has(target, key)),
    ownKeys: (target) => use(Reflect.ownKeys(target)),
    getOwnPropertyDescriptor: (target, key) => use(Reflect.getOwnPropertyDescriptor(target, key)),
  });
  return { values, used: () => isUsed };
}

/** The first value of each name. A value that is too long is left out rather than cut. */
function readable(query: URLSearchParams): Values {
  const values = emptyValues();
  let count = 0;
  for (const [name, value] of query) {
    if (count === maxParams) break;
    if (name === "" || name.length > maxNameChars || value.length > maxValueChars || Object.hasOwn(values, name))
      continue;
    values[escapeHtml(name)] = escapeHtml(value);
    count++;
  }
  return values;
}

/** Whoever may not delete over the protocol makes no program that does, and opens no deletion to others. */
import { forbidden, isObject, parseExactly } from "platform";
import { segment, type Session } from "./tool.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface CreateRequest {
  readonly resource: string;
  /** Of what is changed. */
  readonly id?: string | number;
  readonly fields: unknown;
}

const notDeleting =
  "this token does not delete over /mcp: its owner gives it `mcp_delete`, in the Studio under Access tokens or by `PATCH /core/tokens/:id.json`";

export async function mustMayDelete({ mayDelete }: Session): Promise<void> {
  if (!(await mayDelete())) throw forbidden(notDeleting);
}

export async function mustMayMake(session: Session, { resource, id, fields }: CreateRequest): Promise<void> {
  if (!isObject(fields) || (await session.mayDelete())) return;
  if (await deletes(session, resource, id, fields)) await mustMayDelete(session);
}

/** The same for a change of a database's `public_methods` as text. */
export async function mustMayReplace(
  session: Session,
  id: string | number,
  edit: { readonly old_string: string; readonly new_string: string; readonly replace_all?: boolean },
): Promise<void> {
  if (await session.mayDelete()) return;
  const { public_methods: before } = await oneAt(session, "/core/dbs", id);
  const text = [JSON.stringify(before), JSON.stringify(before, null, 2)].find((form) => form.includes(edit.old_string));
  const after = edit.replace_all
    ? text?.replaceAll(edit.old_string, () => edit.new_string)
    : text?.replace(edit.old_string, () => edit.new_string);
  if (!isOpen(before) && isOpen(parsed(after ?? ""))) await mustMayDelete(session);
}

async function deletes(session: Session, resource: string, id: CreateRequest["id"], fields: Fields): Promise<boolean> {
  if (resource === "dbs") {
    if (!isOpen(fields["public_methods"])) return false;
    return id === undefined || !isOpen((await oneAt(session, "/core/dbs", id))["public_methods"]);
  }
  if (resource === "webhooks") return fields["target_kind"] === "connector" && (await calls(session, [fields]));
  if (resource !== "flows" && resource !== "connectors") return false;
  const inside = [...objectsIn(fields)];
  return inside.some(isDeletion) || (resource === "flows" && (await calls(session, inside)));
}

/** Whether visitors may delete. */
function isOpen(publicMethods: unknown): boolean {
  return isObject(publicMethods) && ![undefined, null, false].some((none) => publicMethods["delete"] === none);
}

/** An operation on records, SQL, or a request that deletes, also one to this server. */
function isDeletion({ op, method, sql, path, headers }: Fields): boolean {
  const verbs = [op, method, ...(isObject(headers) ? Object.values(headers) : [])];
  return (
    verbs.some((verb) => typeof verb === "string" && verb.trim().toUpperCase() === "DELETE") ||
    (typeof sql === "string" && /\b(?:delete|truncate|drop)\b/i.test(sql)) ||
    (typeof path === "string" && /\/delete(?:\.json)?(?:\?|$)/.test(path))
  );
}

/** A program of more than these is not looked through. */
const mostConnectors = 100;

/** Whether one of these steps or webhooks calls a connector's method that deletes. */
async function calls(session: Session, all: readonly Fields[]): Promise<boolean> {
  const byCode = Map.groupBy(all, ({ connector, target_code: target }) => connector ?? target);
  if (byCode.size > mostConnectors) return true;
  for (const [code, callers] of byCode) {
    if (typeof code !== "string" || code === "") continue;
    const { fields } = await oneAt(session, "/connect/connectors", code);
    const methods = isObject(fields) && isObject(fields["methods"]) ? fields["methods"] : {};
    const named = callers.map(
      ({ method, kind }) => methods[String(method ?? kind)] ?? methods["default"] ?? Object.values(methods)[0],
    );
    if (named.some((method) => [...objectsIn(method)].some(isDeletion))) return true;
  }
  return false;
}

/** Every object in it, at any depth; in a text that is JSON, too: a method's body. */
function* objectsIn(given: unknown): Generator<Fields> {
  const left = [given];
  while (left.length > 0) {
    const one = left.pop();
    if (typeof one === "string" && /^\s*[[{]/.test(one)) left.push(parsed(one));
    if (typeof one !== "object" || one === null) continue;
    if (isObject(one)) yield one;
    for (const inner of Object.values(one)) left.push(inner);
  }
}

function parsed(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
}

/** Empty if there is none that the caller may see: then the route refuses what names it, or nothing is called. */
async function oneAt(session: Session, list: `/${string}`, id: string | number): Promise<Fields> {
  const { status, body } = await session.ask({ method: "GET", path: `${list}/${segment("id", id)}` });
  const one = status === 200 ? parsed(body) : undefined;
  return isObject(one) ? one : {};
}

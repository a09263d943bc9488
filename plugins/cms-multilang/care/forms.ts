/** Forms of a template that lead nowhere. */
import type { JsonDatabases } from "../../jsondb/api.ts";
import { withTags } from "../liquid-tags.ts";
import { finding, type Finding } from "./finding.ts";
import type { Checked } from "./templates.ts";

/** The operations that a database opens to visitors; undefined if there is no such database. */
type Open = Awaited<ReturnType<JsonDatabases["find"]>>;

export function formsCheck(find: (code: string) => Promise<Open>): (record: Checked) => Promise<Finding[]> {
  const known = new Map<string, Promise<Open>>();
  return async ({ page, place, content }) => {
    const found: Finding[] = [];
    for (const action of new Set(postActions(content))) {
      const why = await mistakeOf(action, (code) => {
        const database = known.get(code) ?? find(code);
        known.set(code, database);
        return database;
      });
      if (why === undefined) continue;
      const message = `has a form whose action ${action === "" ? "is the page itself" : action} leads nowhere: ${why}`;
      found.push(finding("form_leads_nowhere", page, message, { field: `${place}content` }));
    }
    return found;
  };
}

const maxForms = 100;

/** Of forms that are sent by POST. What a script sends has no method, or says what happens when it is sent. */
function postActions(content: string): string[] {
  // What Liquid makes is known when the page is rendered.
  const masked = withTags(content, (tag) => "\0".repeat(tag.length));
  const tags = masked.match(/<form\b[^<>]{0,2000}>/gi) ?? [];
  return tags.slice(0, maxForms).flatMap((tag) => {
    if (attributeOf(tag, "method")?.toLowerCase() !== "post" || attributeOf(tag, "onsubmit") !== undefined) return [];
    const action = attributeOf(tag, "action") ?? "";
    return action.includes("\0") ? [] : [action.trim()];
  });
}

function attributeOf(tag: string, name: string): string | undefined {
  for (const [, key = "", double, single, bare] of tag.matchAll(
    /\s([a-z-]{1,30})(?:=(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/gi,
  ))
    if (key.toLowerCase() === name) return double ?? single ?? bare ?? "";
  return undefined;
}

async function mistakeOf(action: string, find: (code: string) => Promise<Open>): Promise<string | undefined> {
  if (/^[a-z][a-z0-9+.-]{0,20}:|^[/\\]{2}/i.test(action)) return undefined;
  const path = URL.parse(action, "http://site/")?.pathname ?? "";
  const [, code, method] = /^\/core\/db\/([^/]{1,200})\/([^/]{1,40})$/.exec(path.replace(/\.json$/, "")) ?? [];
  if (code === undefined || method === undefined)
    // Of what takes a POST, a site's host has public methods and apps alone.
    return /^\/a\//.test(path) ? undefined : "pages take no POST; send it to /core/db/<code>/create, a public method";
  const database = await find(code);
  if (!database) return `there is no database ${code}`;
  if (method !== "create" && method !== "update") return "only create and update take forms";
  return database.open.includes(method) ? undefined : `${method} of ${code} is not open to the public`;
}

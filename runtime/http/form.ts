/** Bodies that a browser's form sends. */
import { badRequest, invalid } from "../base/errors.ts";

const urlencoded = "application/x-www-form-urlencoded";
const multipart = "multipart/form-data";
const maxFields = 1000;

/** Whether a request's body is a form; `type` is its `Content-Type`. */
export function isForm(type: string | null): boolean {
  const [name = ""] = (type ?? "").split(";", 1);
  return [urlencoded, multipart].includes(name.trim().toLowerCase());
}

/** The texts by name; a list of them where a name is repeated or ends in `[]`. 422 for a file. */
export async function formFields(source: string, type: string): Promise<Record<string, string | string[]>> {
  const fields = new Map<string, string | string[]>();
  let count = 0;
  for (const [key, value] of await entriesOf(source, type)) {
    if (++count > maxFields) throw badRequest(`a form may have at most ${maxFields} fields`);
    if (typeof value !== "string") {
      // An input for a file that nobody chose.
      if (value.size === 0) continue;
      throw invalid({ [key]: ["cannot be a file"] });
    }
    const name = key.endsWith("[]") ? key.slice(0, -2) : key;
    // Browsers end lines as mail does.
    const text = value.replaceAll("\r\n", "\n");
    const before = fields.get(name);
    if (Array.isArray(before)) before.push(text);
    else if (before !== undefined) fields.set(name, [before, text]);
    else fields.set(name, name === key ? text : [text]);
  }
  return Object.fromEntries(fields);
}

async function entriesOf(source: string, type: string): Promise<Iterable<[string, FormDataEntryValue]>> {
  if (!type.toLowerCase().startsWith(multipart)) return new URLSearchParams(source);
  return new Response(source, { headers: { "content-type": type } }).formData().catch((cause: unknown) => {
    throw Object.assign(badRequest("the form cannot be read"), { cause });
  });
}

/** The replace endpoint: replaces text in the source, the prompt or `fields`. behaviour 4.3. Pure. */
import { invalid } from "platform";
import { replaceInJson } from "../../jsondb/api.ts";
import { limits, objectOf, type AppPatch } from "./patch.ts";
import type { AppRow } from "../store.ts";

export const editable = ["source_code", "fields", "prompt"] as const;

/** behaviour 4.3 has two names for each text. */
export interface EditBody {
  readonly field: (typeof editable)[number];
  readonly old_string?: string;
  readonly old?: string;
  readonly new_string?: string;
  readonly new?: string;
  readonly replace_all?: boolean | null;
}

/** Throws the 422: nothing to search for, not found, or the result is too large. */
export function edited(row: AppRow, body: EditBody): AppPatch {
  const { field } = body;
  const oldString = body.old_string ?? body.old;
  const newString = body.new_string ?? body.new;
  if (!oldString) throw invalid({ old_string: ["can't be blank"] });
  if (newString === undefined) throw invalid({ new_string: ["is required"] });
  const edit = { oldString, newString, all: body.replace_all === true };
  if (field === "fields") {
    const done = replaceInJson(row.fields, edit);
    if ("mistake" in done) throw invalid({ [done.field]: [done.mistake] });
    return { fields: objectOf(done.value, field), dashboard_widget: tileIn(done.value) };
  }
  const text = replaceInText((field === "prompt" ? row.prompt : row.sourceCode) ?? "", edit);
  if (field === "prompt") return { prompt: text };
  if (!/\S/.test(text)) throw invalid({ source_code: ["can't be blank"] });
  return { source_code: text };
}

interface Edit {
  readonly oldString: string;
  readonly newString: string;
  readonly all: boolean;
}

function replaceInText(text: string, { oldString, newString, all }: Edit): string {
  const at = text.indexOf(oldString);
  if (at < 0) throw invalid({ old_string: ["is not found"] });
  if (!all) return text.slice(0, at) + newString + text.slice(at + oldString.length);
  const parts = text.split(oldString);
  // Computed before the text is built: a short text may occur often, and its replacement may be large.
  const length = text.length + (parts.length - 1) * (newString.length - oldString.length);
  if (length > 2 * limits.sourceCode) throw invalid({ new_string: ["makes the text too long"] });
  return parts.join(newString);
}

/** The author saw all of `fields` here, so a `dashboard_widget` that was edited away is gone. */
function tileIn(fields: unknown): boolean | null {
  const tile = Object(fields)["dashboard_widget"];
  return typeof tile === "boolean" ? tile : null;
}

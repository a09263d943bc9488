/** The replace endpoint's edit of a JSON value as text. behaviour 4.4, B.7. Pure. */
import { parseExactly, refuseUnstorable } from "platform";

export interface Edit {
  readonly oldString: string;
  readonly newString: string;
  /** Every occurrence instead of the first. */
  readonly all: boolean;
}

/** Replaces in the compact text, or in the text indented by two if the compact one does not contain `oldString`. */
export function replaceInJson(value: unknown, edit: Edit): { value: unknown } | { mistake: string; field: string } {
  const forms = [JSON.stringify(value ?? null), JSON.stringify(value ?? null, null, 2)];
  const text = forms.find((form) => form.includes(edit.oldString));
  if (text === undefined) return { field: "old_string", mistake: "is not found" };
  const parts = edit.all ? text.split(edit.oldString) : splitOnce(text, edit.oldString);
  // Counted before it is built: a quotation mark occurs often, and the new text may be large.
  const length = text.length + (parts.length - 1) * (edit.newString.length - edit.oldString.length);
  if (length > maxLength) return { field: "new_string", mistake: "makes the value too large" };
  const replaced = parts.join(edit.newString);
  try {
    const edited = parseExactly(replaced);
    refuseUnstorable(edited);
    return { value: edited };
  } catch {
    return { field: "new_string", mistake: "makes the value invalid JSON" };
  }
}

const maxLength = 1_000_000;

function splitOnce(text: string, at: string): string[] {
  const position = text.indexOf(at);
  return [text.slice(0, position), text.slice(position + at.length)];
}

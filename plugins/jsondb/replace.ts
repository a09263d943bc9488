/** The replace endpoint's edit of a JSON value as text. SPEC 4.4, CONTRACT 7. Pure. */

export interface Edit {
  readonly oldString: string;
  readonly newString: string;
  /** Every occurrence instead of the first. */
  readonly all: boolean;
}

/** Replaces in the compact text, or where `oldString` is not found there, in the text indented by two. */
export function replaceInJson(value: unknown, edit: Edit): { value: unknown } | { mistake: string; field: string } {
  const forms = [JSON.stringify(value ?? null), JSON.stringify(value ?? null, null, 2)];
  const text = forms.find((form) => form.includes(edit.oldString));
  if (text === undefined) return { field: "old_string", mistake: "is not found" };
  // Functions, because "$&" in a replacement text has a meaning.
  const replaced = edit.all
    ? text.replaceAll(edit.oldString, () => edit.newString)
    : text.replace(edit.oldString, () => edit.newString);
  if (replaced.length > maxResult) return { field: "new_string", mistake: "makes the value too large" };
  try {
    return { value: JSON.parse(replaced) as unknown };
  } catch {
    return { field: "new_string", mistake: "makes the value invalid JSON" };
  }
}

const maxResult = 1_000_000;

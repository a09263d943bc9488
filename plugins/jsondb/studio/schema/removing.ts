/** Fields that go and come: deleted with a way back, and doubled. */
import { filledIn, isMap, text, toasts } from "studio";
import type { Database } from "../database.svelte.ts";
import { schemaOf } from "../schema.ts";
import { inTable, removeField, restoreField, withField } from "./changes.ts";
import { changeSchema, labelOf, usesOf } from "./tables.ts";
import { say, texts } from "./words.ts";

/** Says what goes and what stays. Records keep what they have in the field, so that it comes back whole. */
export async function removeWithUndo(database: Database, table: string, name: string, label: string): Promise<boolean> {
  const before = database.schema.tables.find((one) => one.name === table);
  const used = await usesOf(database, table, name);
  try {
    await changeSchema(database, (draft) => inTable(draft, table, (one) => removeField(one, name)));
  } catch (error) {
    toasts.fail(error);
    return false;
  }
  const back = () =>
    changeSchema(database, (draft) => inTable(draft, table, (one) => (before ? restoreField(one, before, name) : one)));
  const stays = used ? filledIn(text.count(texts().valuesStay, used), { name }) : "";
  toasts.offerUndo(
    `${say("fieldDeleted", { name: label })} ${stays}`.trim(),
    () => void back().catch((error: unknown) => toasts.fail(error)),
  );
  return true;
}

/** Another field like it, without its values and without being unique. */
export async function duplicateField(database: Database, table: string, name: string, next: string): Promise<void> {
  const all = database.schema.tables.find((one) => one.name === table)?.fields ?? [];
  const field = all.find((one) => one.name === name);
  if (!field) return;
  const { fields = {} } = schemaOf({
    multiTable: false,
    tables: [{ name: "", fields: [field], indexed: [], columns: {}, sorts: [] }],
  });
  const definition = isMap(fields) ? fields[name] : undefined;
  const full = isMap(definition) ? definition : { type: definition };
  const label = { [text.language]: say("copyOf", { name: labelOf(field) }) };
  try {
    await changeSchema(database, (draft) =>
      withField(draft, table, next, { ...full, label, unique: undefined }, all.indexOf(field) + 1),
    );
    toasts.say(say("fieldAdded"));
  } catch (error) {
    toasts.fail(error);
  }
}

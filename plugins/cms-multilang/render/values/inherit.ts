/** What a slave page takes from its master. behaviour A.4. */
import { isObject } from "platform";
import { isLocale } from "../../locales.ts";
import type { Fields, PageRow } from "../../rows.ts";
import { isAbsent } from "./fields.ts";

export type Inherited = Pick<
  PageRow,
  "content" | "layoutId" | "htmlTitle" | "htmlDescription" | "htmlKeywords" | "fields"
>;

/** The slave with what is empty in it taken from the master; a page without a master as it stands. */
export function inherit<P extends Inherited>(page: P, master: Inherited | undefined): P {
  if (!master) return page;
  return {
    ...page,
    content: filled(page.content) ?? master.content,
    layoutId: page.layoutId ?? master.layoutId,
    htmlTitle: filled(page.htmlTitle) ?? master.htmlTitle,
    htmlDescription: filled(page.htmlDescription) ?? master.htmlDescription,
    htmlKeywords: filled(page.htmlKeywords) ?? master.htmlKeywords,
    fields: mergeFields(page.fields, master.fields),
  };
}

/** Per key: the slave's value where it has one, else the master's; sub-objects by locale are merged in the same way. */
export function mergeFields(slave: Fields, master: Fields): Fields {
  return mergeKeys(slave, master, (key, own, inherited) =>
    isLocale(key) && isObject(own) && isObject(inherited) ? mergeKeys(own, inherited) : own,
  );
}

function mergeKeys(
  slave: Fields,
  master: Fields,
  both: (key: string, own: unknown, inherited: unknown) => unknown = (_, own) => own,
): Fields {
  // Entries and not assignments: a key may be `__proto__`.
  const merged = new Map(Object.entries(master));
  for (const [key, own] of Object.entries(slave)) {
    if (!isAbsent(own)) merged.set(key, both(key, own, merged.get(key)));
    else if (!merged.has(key)) merged.set(key, own);
  }
  return Object.fromEntries(merged);
}

/** Undefined where a text is empty: blanks alone are nothing to show. */
function filled(text: string | null): string | undefined {
  return text === null || text.trim() === "" ? undefined : text;
}

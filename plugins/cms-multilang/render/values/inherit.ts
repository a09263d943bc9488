/** What a slave inherits from its master. behaviour A.4. */
import { isObject } from "platform";
import { isLocale } from "../../locales.ts";
import type { Fields, PageRow } from "../../rows.ts";
import { isAbsent } from "./fields.ts";

export type Inherited = Pick<
  PageRow,
  "content" | "layoutId" | "htmlTitle" | "htmlDescription" | "htmlKeywords" | "fields"
>;

/** The slave with its empty values filled in from the master. A page without a master stays as it is. */
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

/**
 * Per key: the slave's value if it has one, else the master's. Objects keyed by a locale are merged in the same way.
 */
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
  // Entries instead of assignments, because a key may be `__proto__`.
  const merged = new Map(Object.entries(master));
  for (const [key, own] of Object.entries(slave)) {
    if (!isAbsent(own)) merged.set(key, both(key, own, merged.get(key)));
    else if (!merged.has(key)) merged.set(key, own);
  }
  return Object.fromEntries(merged);
}

/** Undefined if a text is empty or blank. */
function filled(text: string | null): string | undefined {
  return text === null || text.trim() === "" ? undefined : text;
}

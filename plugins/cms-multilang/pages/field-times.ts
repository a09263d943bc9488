/** Records when each translatable field of a record last changed, so that a stale translation can be noticed. */
import { isObject } from "platform";
import { isLocale } from "../locales.ts";
import type { ArticleRow, Fields, PageRow } from "../rows.ts";

/** What a page, paragraph, layout or article says; each has some of the columns. */
type Texts = Pick<PageRow, "content" | "fields"> &
  Partial<Pick<PageRow, "layoutId" | "htmlTitle" | "htmlDescription" | "htmlKeywords">> &
  Partial<Pick<ArticleRow, "title" | "lead">>;

/** With more keys in `fields` than this, only one time for all of `fields` is kept. */
const mostKeys = 500;

export function fieldTimes(
  before: (Texts & Pick<PageRow, "fieldTimes">) | undefined,
  after: Texts,
  now: Date,
): Readonly<Record<string, string>> {
  const old = before ? flat(before) : new Map<string, string>();
  const times = new Map<string, string>();
  for (const [name, value] of flat(after)) {
    const known = before && Object.hasOwn(before.fieldTimes, name) ? before.fieldTimes[name] : undefined;
    const same = old.get(name) === value;
    if (same && known !== undefined) times.set(name, known);
    else if (!same) times.set(name, now.toISOString());
  }
  return Object.fromEntries(times);
}

/** Every value that is not empty, as JSON by its place. */
function flat(texts: Texts): Map<string, string> {
  const { title, lead, content, layoutId, htmlTitle, htmlDescription, htmlKeywords, fields } = texts;
  const columns = {
    title,
    lead,
    content,
    layout_id: layoutId,
    html_title: htmlTitle,
    html_description: htmlDescription,
    html_keywords: htmlKeywords,
  };
  const places = [...Object.entries(columns), ...flatFields(fields)];
  return new Map(
    places
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([name, value]) => [name, JSON.stringify(value)]),
  );
}

function flatFields(fields: Fields): [string, unknown][] {
  const places = Object.entries(fields).flatMap(([key, value]): [string, unknown][] =>
    isLocale(key) && isObject(value)
      ? Object.entries(value).map(([inner, translated]) => [`fields.${key}.${inner}`, translated])
      : [[`fields.${key}`, value]],
  );
  return places.length > mostKeys ? [["fields", fields]] : places;
}

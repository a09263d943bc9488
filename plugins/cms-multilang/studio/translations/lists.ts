/** The columns of the lists of one site: without the site, which is known there. Pure. */
const columns: Readonly<Record<string, readonly string[]>> = {
  "/cms/layouts": ["name", "code", "updated_at"],
  "/cms/paragraphs": ["name", "code", "page_code", "position", "updated_at"],
  "/cms/articles": ["title", "category_code", "locale", "published_at", "active"],
  "/cms/categories": ["name", "code", "path", "updated_at"],
  "/cms/domains": ["name", "locale", "primary", "status"],
  "/cms/redirects": ["path", "to", "status", "domain"],
};

export function columnsOfList(path: string): readonly string[] {
  return columns[path] ?? [];
}

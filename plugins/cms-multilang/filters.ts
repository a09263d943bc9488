/** The query parameters of lists. */
import { flagOf, wildcardPattern } from "platform";
import { cleanPath } from "./pages/path.ts";

/** The filters of all lists. A value that cannot exist matches nothing, as an exact filter does. */
export function filtersOf(query: URLSearchParams) {
  const given = (name: string) => query.get(name) || undefined;
  const phrase = given("q");
  const path = query.get("path");
  return {
    q: phrase && wildcardPattern(phrase),
    code: given("code"),
    name: given("name")?.toLowerCase(),
    siteCode: given("site_code"),
    pageCode: given("page_code"),
    layoutCode: given("layout_code"),
    basedOnPageCode: given("based_on_page_code"),
    categoryCode: given("category_code"),
    locale: given("locale"),
    kind: given("kind"),
    path: path === null ? undefined : pathOf(path),
    active: flagOf(query, "active"),
  };
}

function pathOf(given: string): string {
  const clean = cleanPath(given);
  return "path" in clean ? clean.path : given;
}

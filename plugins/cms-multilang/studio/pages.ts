import { page, type StudioPage } from "studio/page";

const list = () => import("./translations/SiteList.svelte");
const record = () => import("./translations/Record.svelte");

const privilege = "cms";
const own = { of: "/cms/sites", privilege };

/** The pages of one site. */
export const pages: StudioPage[] = [
  page("cms/:site/pages", ["Pages", "Strony", "Seiten"], () => import("./pages-of-site/Pages.svelte"), {
    ...own,
    view: "pages/index",
  }),
  page(
    "cms/:site/pages/new",
    ["New page", "Nowa strona", "Neue Seite"],
    () => import("./pages-of-site/NewPage.svelte"),
    own,
  ),
  page("cms/:site/pages/:id", ["Page", "Strona", "Seite"], () => import("./pages-of-site/Page.svelte"), {
    ...own,
    view: "pages/show",
  }),
  page("cms/:site/articles", ["Articles", "Artykuły", "Artikel"], list, own),
  page("cms/:site/categories", ["Categories", "Kategorie", "Kategorien"], list, own),
  page("cms/:site/paragraphs", ["Paragraphs", "Akapity", "Absätze"], list, own),
  page("cms/:site/layouts", ["Layouts", "Układy", "Layouts"], list, own),
  page("cms/:site/domains", ["Domains", "Domeny", "Domains"], list, own),
  page("cms/:site/redirects", ["Redirects", "Przekierowania", "Weiterleitungen"], list, own),
  page(
    "cms/:site/translations",
    ["Translations", "Tłumaczenia", "Übersetzungen"],
    () => import("./translations/Translations.svelte"),
    own,
  ),
  page("cms/:site/checks", ["Checks", "Kontrola", "Prüfung"], () => import("./translations/Checks.svelte"), own),
  page(
    "cms/:site/migration",
    ["Migration", "Migracja", "Umstellung"],
    () => import("./translations/Migration.svelte"),
    own,
  ),
  page("cms/layouts/new", ["New layout", "Nowy układ", "Neues Layout"], record, { privilege }),
  page("cms/layouts/:id", ["Layout", "Układ", "Layout"], record, { privilege }),
  page("cms/paragraphs/new", ["New paragraph", "Nowy akapit", "Neuer Absatz"], record, { privilege }),
  page("cms/paragraphs/:id", ["Paragraph", "Akapit", "Absatz"], record, { privilege }),
  page("cms/articles/new", ["New article", "Nowy artykuł", "Neuer Artikel"], record, { privilege }),
  page("cms/articles/:id", ["Article", "Artykuł", "Artikel"], record, { privilege }),
];

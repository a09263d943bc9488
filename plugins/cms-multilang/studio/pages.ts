import type { StudioPage } from "studio";

const record = () => import("./translations/Record.svelte");

const own = { of: "/cms/sites", privilege: "cms" } as const;

/** The pages of one site. */
export const pages: StudioPage[] = [
  {
    ...own,
    path: "cms/:site/pages",
    title: { en: "Pages", pl: "Strony", de: "Seiten" },
    view: "pages/index",
    load: () => import("./pages-of-site/Pages.svelte"),
  },
  {
    ...own,
    path: "cms/:site/pages/new",
    title: { en: "New page", pl: "Nowa strona", de: "Neue Seite" },
    load: () => import("./pages-of-site/NewPage.svelte"),
  },
  {
    ...own,
    path: "cms/:site/pages/:id",
    title: { en: "Page", pl: "Strona", de: "Seite" },
    view: "pages/show",
    load: () => import("./pages-of-site/Page.svelte"),
  },
  {
    ...own,
    path: "cms/:site/articles",
    title: { en: "Articles", pl: "Artykuły", de: "Artikel" },
    load: () => import("./translations/SiteList.svelte"),
  },
  {
    ...own,
    path: "cms/:site/categories",
    title: { en: "Categories", pl: "Kategorie", de: "Kategorien" },
    load: () => import("./translations/SiteList.svelte"),
  },
  {
    ...own,
    path: "cms/:site/paragraphs",
    title: { en: "Paragraphs", pl: "Akapity", de: "Absätze" },
    load: () => import("./translations/SiteList.svelte"),
  },
  {
    ...own,
    path: "cms/:site/layouts",
    title: { en: "Layouts", pl: "Szablony", de: "Layouts" },
    load: () => import("./translations/SiteList.svelte"),
  },
  {
    ...own,
    path: "cms/:site/domains",
    title: { en: "Domains", pl: "Domeny", de: "Domains" },
    load: () => import("./translations/SiteList.svelte"),
  },
  {
    ...own,
    path: "cms/:site/redirects",
    title: { en: "Redirects", pl: "Przekierowania", de: "Weiterleitungen" },
    load: () => import("./translations/SiteList.svelte"),
  },
  {
    ...own,
    path: "cms/:site/translations",
    title: { en: "Translations", pl: "Tłumaczenia", de: "Übersetzungen" },
    load: () => import("./translations/Translations.svelte"),
  },
  {
    ...own,
    path: "cms/:site/checks",
    title: { en: "Checks", pl: "Kontrola", de: "Prüfung" },
    load: () => import("./translations/Checks.svelte"),
  },
  {
    ...own,
    path: "cms/:site/migration",
    title: { en: "Migration", pl: "Migracja", de: "Umstellung" },
    load: () => import("./translations/Migration.svelte"),
  },
  {
    path: "cms/layouts/new",
    title: { en: "New layout", pl: "Nowy szablon", de: "Neues Layout" },
    privilege: "cms",
    load: record,
  },
  {
    path: "cms/layouts/:id",
    title: { en: "Layout", pl: "Szablon", de: "Layout" },
    privilege: "cms",
    load: record,
  },
  {
    path: "cms/paragraphs/new",
    title: { en: "New paragraph", pl: "Nowy akapit", de: "Neuer Absatz" },
    privilege: "cms",
    load: record,
  },
  {
    path: "cms/paragraphs/:id",
    title: { en: "Paragraph", pl: "Akapit", de: "Absatz" },
    privilege: "cms",
    load: record,
  },
  {
    path: "cms/articles/new",
    title: { en: "New article", pl: "Nowy artykuł", de: "Neuer Artikel" },
    privilege: "cms",
    load: record,
  },
  {
    path: "cms/articles/:id",
    title: { en: "Article", pl: "Artykuł", de: "Artikel" },
    privilege: "cms",
    load: record,
  },
];

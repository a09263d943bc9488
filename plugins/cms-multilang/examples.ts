/** The examples of every resource in the documentation. */
const kept = {
  created_by_id: 1,
  updated_by_id: null,
  created_at: "2026-01-31T10:00:00.000Z",
  updated_at: "2026-01-31T10:00:00.000Z",
};

export const siteExample = {
  id: 3,
  code: "acme",
  name: "Acme",
  locale: "pl",
  multilang: true,
  fields: { company: "Acme" },
  active: true,
  ...kept,
};

export const domainExample = {
  id: 4,
  name: "www.acme.example",
  site_id: 3,
  site_code: "acme",
  locale: "en",
  primary: true,
  status: "approved",
  verification: null,
  ...kept,
};

export const layoutExample = {
  id: 5,
  code: "main",
  name: "Main layout",
  site_id: 3,
  site_code: "acme",
  content:
    '<!doctype html><html lang="{{ content_lang }}"><head>{{ seo_head }}</head><body>{{ content }}</body></html>',
  fields: { pl: { slogan: "Dobra robota" }, en: { slogan: "Good work" } },
  ...kept,
};

export const pageExample = {
  id: 7,
  code: "offer-en",
  name: "Offer",
  path: "offer",
  locale: "en",
  kind: "text",
  site_id: 3,
  site_code: "acme",
  layout_id: 5,
  layout_code: "main",
  content: "<h1>{{ title }}</h1>",
  fields: { title: "Our offer" },
  html_title: "Our offer",
  html_description: null,
  html_keywords: null,
  based_on_page_id: null,
  based_on_page_code: null,
  active: true,
  position: 0,
  cache_seconds: null,
  ...kept,
};

export const paragraphExample = {
  id: 8,
  code: "offer-intro",
  name: "Introduction",
  site_id: 3,
  site_code: "acme",
  page_id: 7,
  page_code: "offer-en",
  content: "<p>{{ paragraph.text }}</p>",
  fields: { pl: { text: "Od lat" }, en: { text: "For years" } },
  position: 1,
  ...kept,
};

export const categoryExample = {
  id: 9,
  code: "news",
  name: "News",
  path: null,
  site_id: 3,
  site_code: "acme",
  ...kept,
};

export const redirectExample = {
  id: 11,
  path: "old-offer",
  to: "/offer",
  status: 301,
  site_id: 3,
  site_code: "acme",
  domain_id: null,
  domain: null,
  ...kept,
};

export const articleExample = {
  id: 10,
  code: "new-office",
  site_id: 3,
  site_code: "acme",
  category_id: 9,
  category_code: "news",
  categories: [],
  locale: "en",
  path: "new-office",
  title: "A new office",
  lead: "We have moved.",
  content: "<p>Come and see us.</p>",
  fields: {},
  html_title: null,
  html_description: null,
  published_at: "2026-01-31T10:00:00.000Z",
  active: true,
  ...kept,
};

import type { Examples } from "studio";

/** Most of it belongs to a site. */
const needs = { path: "/cms/sites", fields: { site_code: "code" } };

const layout =
  "<!doctype html>\n" +
  '<html lang="{{ content_lang }}">\n' +
  "  <head>\n" +
  '    <meta charset="utf-8">\n' +
  '    <meta name="viewport" content="width=device-width">\n' +
  "    <title>{{ page.html_title }}</title>\n" +
  "    {{ seo_head }}\n" +
  "  </head>\n" +
  "  <body>\n" +
  "    <main>{{ content }}</main>\n" +
  "    {% paragraphs %}\n" +
  "  </body>\n" +
  "</html>\n";

export const examples: Examples = {
  "/cms/sites": {
    says: {
      en: "the site of a garden shop, in English.",
      pl: "witryna sklepu ogrodniczego, po polsku.",
      de: "die Website einer Gärtnerei, auf Deutsch.",
    },
    words: {
      en: { code: "green-garden", name: "Green Garden", locale: "en" },
      pl: { code: "zielony-ogrod", name: "Zielony Ogród", locale: "pl" },
      de: { code: "gruener-garten", name: "Grüner Garten", locale: "de" },
    },
  },
  "/cms/domains": {
    says: {
      en: "an address for your first site. Put a domain of your own in its place.",
      pl: "adres Twojej pierwszej witryny. Wpisz zamiast niego własną domenę.",
      de: "eine Adresse für Ihre erste Website. Setzen Sie Ihre eigene Domain ein.",
    },
    fields: { name: "www.green-garden.example" },
    needs,
  },
  "/cms/redirects": {
    says: {
      en: "a redirect from an old path to the home page.",
      pl: "przekierowanie ze starej ścieżki na stronę startową.",
      de: "eine Weiterleitung von einem alten Pfad zur Startseite.",
    },
    fields: { to: "/" },
    words: { en: { path: "old-home" }, pl: { path: "stara-strona" }, de: { path: "alte-seite" } },
    needs,
  },
  "/cms/layouts": {
    says: {
      en: "a whole HTML page around the content, with its title and what search engines ask for.",
      pl: "cała strona HTML wokół treści, z tytułem i tym, czego oczekują wyszukiwarki.",
      de: "eine ganze HTML-Seite um den Inhalt, mit Titel und dem, was Suchmaschinen erwarten.",
    },
    fields: { code: "main", content: layout },
    words: { en: { name: "Main layout" }, pl: { name: "Szablon główny" }, de: { name: "Hauptlayout" } },
    needs,
  },
  "/cms/pages": {
    says: {
      en: "a page “About us” with a heading and a sentence.",
      pl: "strona „O nas” z nagłówkiem i jednym zdaniem.",
      de: "eine Seite „Über uns“ mit einer Überschrift und einem Satz.",
    },
    words: {
      en: {
        code: "about-us",
        name: "About us",
        path: "about-us",
        html_title: "About us",
        content: "<h1>About us</h1>\n<p>We have grown plants since 1998.</p>\n",
      },
      pl: {
        code: "o-nas",
        name: "O nas",
        path: "o-nas",
        html_title: "O nas",
        content: "<h1>O nas</h1>\n<p>Uprawiamy rośliny od 1998 roku.</p>\n",
      },
      de: {
        code: "ueber-uns",
        name: "Über uns",
        path: "ueber-uns",
        html_title: "Über uns",
        content: "<h1>Über uns</h1>\n<p>Seit 1998 ziehen wir Pflanzen.</p>\n",
      },
    },
    needs,
  },
  "/cms/paragraphs": {
    says: {
      en: "opening hours for all pages of your first site, where a template says {% paragraphs %}.",
      pl: "godziny otwarcia na wszystkich stronach pierwszej witryny, tam gdzie w szablonie jest {% paragraphs %}.",
      de: "Öffnungszeiten für alle Seiten Ihrer ersten Website, wo eine Vorlage {% paragraphs %} sagt.",
    },
    fields: { code: "opening-hours" },
    words: {
      en: { name: "Opening hours", content: "<p>Monday to Friday, 9 am to 5 pm</p>\n" },
      pl: { name: "Godziny otwarcia", content: "<p>Od poniedziałku do piątku, 9:00–17:00</p>\n" },
      de: { name: "Öffnungszeiten", content: "<p>Montag bis Freitag, 9 bis 17 Uhr</p>\n" },
    },
    needs,
  },
  "/cms/categories": {
    says: {
      en: "a category for news.",
      pl: "kategoria na aktualności.",
      de: "eine Kategorie für Neuigkeiten.",
    },
    fields: { code: "news" },
    words: {
      en: { name: "News", path: "news" },
      pl: { name: "Aktualności", path: "aktualnosci" },
      de: { name: "Neuigkeiten", path: "neuigkeiten" },
    },
    needs,
  },
  "/cms/articles": {
    says: {
      en: "an announcement in your first category.",
      pl: "ogłoszenie w Twojej pierwszej kategorii.",
      de: "eine Ankündigung in Ihrer ersten Kategorie.",
    },
    words: {
      en: {
        code: "new-office",
        title: "We have moved",
        lead: "From Monday on you find us in Garden Street.",
        content: "<p>Come and see our new greenhouse.</p>\n",
      },
      pl: {
        code: "nowe-biuro",
        title: "Przeprowadziliśmy się",
        lead: "Od poniedziałku jesteśmy przy ulicy Ogrodowej.",
        content: "<p>Zapraszamy do naszej nowej szklarni.</p>\n",
      },
      de: {
        code: "neues-buero",
        title: "Wir sind umgezogen",
        lead: "Ab Montag finden Sie uns in der Gartenstraße.",
        content: "<p>Besuchen Sie unser neues Gewächshaus.</p>\n",
      },
    },
    needs: { path: "/cms/categories", fields: { site_code: "site_code", category_code: "code" } },
  },
};

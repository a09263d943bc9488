/** `GET /cms/sites/:id/check`, `/translations` and `/texts`: mistakes and missing translations of a site. */
import { answer, field, list, pageOf, pageQuery, pageReply, route, Type, type Route } from "platform";
import { checkSite, pageTranslations, textKinds, textTranslations } from "./check.ts";
import { findingCodes } from "./finding.ts";
import { isLocale, locales, type Locale } from "../locales.ts";
import { siteAt } from "../sites/site.ts";
import type { CmsContext } from "../context.ts";

const access = { privilege: "cms" } as const;

const text = Type.String();
const orNull = field.nullable;

const SiteFinding = answer.object("SiteFinding", {
  code: Type.Unsafe<keyof typeof findingCodes>(field.oneOf(Object.keys(findingCodes))),
  severity: field.oneOf(["error", "warning"]),
  page: orNull(text),
  locale: Type.Optional(field.oneOf(locales)),
  field: Type.Optional(text),
  message: text,
});

const TranslationState = answer.object("TranslationState", {
  state: field.oneOf(["own", "fields", "inherited", "missing", "stale"]),
  page: orNull(text),
  missing: answer.list(text),
  stale: answer.list(text),
});

const PageTranslations = answer.object("PageTranslations", {
  page: text,
  name: text,
  path: text,
  locales: Type.Record(text, TranslationState),
});

const TextState = answer.object("TextState", {
  state: field.oneOf(["own", "fields", "inherited", "missing", "stale"]),
  code: orNull(text),
  missing: answer.list(text),
  stale: answer.list(text),
});

const TextTranslations = answer.object("TextTranslations", {
  code: text,
  name: text,
  locales: Type.Record(text, TextState),
});

export function careRoutes(ctx: CmsContext): Route[] {
  return [
    route(
      "GET",
      "/cms/sites/:id/check",
      {
        summary: "Check a site",
        description:
          "Finds mistakes by the rules of search engines and of multilingual sites. Answers an array of { code, severity " +
          "(`error`, `warning`), page (its code; null = the whole site), locale, field, message }. Codes: " +
          `${Object.keys(findingCodes).join(", ")}. At most 10,000 findings.`,
        access,
        query: pageQuery,
        answers: { 200: answer.list(SiteFinding) },
        responses: {
          200: [
            {
              code: "stale_translation",
              severity: "warning",
              page: "about-en",
              locale: "en",
              field: "content",
              message: "content was changed in its source after it was translated to en",
            },
          ],
        },
      },
      async ({ caller, params, query: given }) => {
        const { limit, offset } = pageOf(given);
        const found = await checkSite(ctx, await siteAt(ctx, caller.account.id, params.id));
        return list(found.slice(offset, offset + limit), found.length);
      },
    ),
    route(
      "GET",
      "/cms/sites/:id/translations",
      {
        summary: "Pages by language",
        description:
          "One row for each page that stands for its languages (slaves have none), with one entry for each language of the " +
          "site's domains and pages: { state, page, missing, stale }. `state` is `own` (a page of that language has the " +
          "text), `fields` (values keyed by the locale have it), `inherited` (the master's text is shown, or one text " +
          "for all languages), `missing` (there is no text) or `stale` (its source has changed since it was " +
          "translated). `missing` names keys of `fields` without a value, `stale` the fields whose source is newer. With " +
          "`locales` languages that no domain or page has yet are answered as well, e.g. one to translate the site into.",
        access,
        query: { ...pageQuery, locales: "codes of more languages, with commas; unknown ones are ignored" },
        answers: { 200: answer.list(PageTranslations) },
        responses: {
          200: [
            {
              page: "about",
              name: "About us",
              path: "o-nas",
              locales: {
                pl: { state: "own", page: "about", missing: [], stale: [] },
                en: { state: "stale", page: "about-en", missing: [], stale: ["content"] },
                de: { state: "missing", page: null, missing: [], stale: [] },
              },
            },
          ],
        },
      },
      async ({ caller, params, query: given }) => {
        const site = await siteAt(ctx, caller.account.id, params.id);
        return pageReply(await pageTranslations(ctx, site, pageOf(given), moreOf(given)), (row) => row);
      },
    ),
    route(
      "GET",
      "/cms/sites/:id/texts",
      {
        summary: "Paragraphs, layouts and articles by language",
        description:
          "As `translations` for pages. Paragraphs and layouts are those of the site with fields by language. An article has " +
          "one language: articles of the same main category that were published at the same time are taken for one " +
          "article in several languages, the first of them in the site's language: `missing` and `stale` name its texts that the " +
          "translation lacks, or that were changed after it. `code` is the record that has the language's text.",
        access,
        query: {
          ...pageQuery,
          kind: Type.String({ enum: [...textKinds], description: "default paragraph" }),
          locales: "codes of more languages, with commas; unknown ones are ignored",
        },
        answers: { 200: answer.list(TextTranslations) },
        responses: {
          200: [
            {
              code: "hours",
              name: "Opening hours",
              locales: {
                pl: { state: "own", code: "hours", missing: [], stale: [] },
                en: { state: "fields", code: "hours", missing: ["note"], stale: [] },
              },
            },
          ],
        },
      },
      async ({ caller, params, query: given }) => {
        const site = await siteAt(ctx, caller.account.id, params.id);
        const kind = textKinds.find((one) => one === given.get("kind")) ?? "paragraph";
        return pageReply(await textTranslations(ctx, kind, site, pageOf(given), moreOf(given)), (row) => row);
      },
    ),
  ];
}

function moreOf(query: URLSearchParams): Locale[] {
  return (query.get("locales") ?? "").split(",", 100).filter(isLocale);
}

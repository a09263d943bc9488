/** `POST /cms/pages/preview`: a page as an editor has it, on each domain and in each language. behaviour B.11. */
import { answer, notFound, ok, route, text, type Route } from "platform";
import { DraftPreview } from "../../answers.ts";
import { htmlType } from "../door/replies.ts";
import { previewHeaders } from "../render-routes.ts";
import { DraftBody, makePreview, previewOf } from "./drafts.ts";
import type { CmsContext } from "../../context.ts";

const access = { privilege: "cms" } as const;
const example = {
  url: "/cms/previews/3q2-7w…",
  expires_at: "2026-01-31T10:10:00.000Z",
  domain: "www.acme.example",
  locale: "en",
  address: "https://www.acme.example/offer",
  redirects_to: null,
  seen: {
    title: "Our offer",
    description: null,
    canonical_url: "https://www.acme.example/offer",
    alternates: [{ locale: "en", url: "https://www.acme.example/offer" }],
    robots: null,
    lang: "en",
  },
  canonical_url: "https://www.acme.example/offer",
  alternates: [{ locale: "en", url: "https://www.acme.example/offer" }],
  fault: null,
};

export function draftRoutes(ctx: CmsContext): Route[] {
  return [
    route(
      "POST",
      "/cms/pages/preview",
      {
        summary: "Render a page without saving it",
        description:
          "What is left out comes from the saved page. The result is at `url` for ten minutes, for you alone. Without " +
          "`domain` it is the domain of the page's own address. `lang` shows it as `?lang=` does. `seen` is what the head of " +
          "the result tells search engines, `canonical_url` and `alternates` are what it should tell (null and empty " +
          "without `multilang`). `redirects_to`: this domain shows another page of the same master instead. `fault` " +
          "says which template failed, and where.",
        access,
        body: { key: "page", schema: DraftBody },
        request: { id: "offer-en", site_code: "acme", content: "<h1>{{ title }}</h1>" },
        answers: { 200: DraftPreview },
        responses: { 200: example, 422: { content: ["line 3, column 7: …"] } },
      },
      async ({ caller, body }) => {
        const { token, ...made } = await makePreview(ctx, caller, body);
        return ok({ url: `/cms/previews/${token}`, ...made });
      },
    ),
    route(
      "GET",
      "/cms/previews/:token",
      {
        summary: "A page that was rendered without saving it",
        description: "For ten minutes, for the person who made it. The page runs in a sandbox.",
        access,
        answers: { 200: answer.text("text/html") },
        responses: { 200: "<!doctype html>…", 404: { error: "not found" } },
      },
      async ({ caller, params }) => {
        const html = await previewOf(ctx, caller, params.token);
        if (html === undefined) throw notFound();
        return text(200, html, htmlType, previewHeaders);
      },
    ),
  ];
}

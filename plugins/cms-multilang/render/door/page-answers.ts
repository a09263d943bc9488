/**
 * Answers for a path that has a page: its text, a redirect to its new path, or the site's error page if its template
 * fails.
 */
import { composeInputOf, viewOf, type Asked } from "./asked.ts";
import { pathAddress } from "../addresses/addresses.ts";
import { redirectReply } from "../addresses/redirects.ts";
import type { Composer } from "../compose.ts";
import { faultMs, type ErrorAnswers } from "./error-answers.ts";
import { TemplateFault } from "../templates/fault.ts";
import type { Finder } from "../addresses/find.ts";
import { createFoundPages, type Answer } from "./kept-pages.ts";
import { cacheControlOf, movedTo, pageReply, typeOf } from "./replies.ts";

interface Needed {
  readonly finder: Pick<Finder, "find">;
  readonly composer: Composer;
  readonly errorAnswer: ErrorAnswers;
  readonly scheme: () => string;
  readonly now: () => number;
}

/** Null if the path leads nowhere. */
export type PageAnswers = (asked: Asked, path: string) => Promise<Answer | null>;

const maxFoundBytes = 16_000_000;

export function createPageAnswers({ finder, composer, errorAnswer, scheme, now }: Needed): PageAnswers {
  const foundPages = createFoundPages(maxFoundBytes);

  const pageOf = async (asked: Asked, path: string): Promise<Answer | null> => {
    const found = foundPages.get(asked, path) ?? (await finder.find(viewOf(asked), path));
    if (!found) {
      const reply = await redirectReply(asked, path);
      return reply ? { reply, shared: false, until: 0, page: 1 } : null;
    }
    if ("redirect" in found) {
      const reply = movedTo(pathAddress(found.redirect) + asked.search);
      return { reply, shared: false, until: 0, page: 1 };
    }
    foundPages.put(asked, path, found);
    const made = await composer.compose(composeInputOf(asked, scheme()), found);
    const { text, locale, page, pageNumber, shared, until } = made;
    const cacheControl = shared ? cacheControlOf(page.cacheSeconds) : "private, no-cache";
    const reply = pageReply({ status: 200, text, type: typeOf(path), locale, cacheControl });
    return { reply, shared, until, page: pageNumber };
  };

  return async (asked, path) => {
    try {
      return await pageOf(asked, path);
    } catch (error) {
      if (!(error instanceof TemplateFault)) throw error;
      const { state, domain, log } = asked;
      log.error("a page of a site failed", { site: state.site.code, domain: domain.name, path, error: error.message });
      const reply = await errorAnswer(asked, "500");
      return { reply, shared: true, until: now() + faultMs, page: asked.page };
    }
  };
}

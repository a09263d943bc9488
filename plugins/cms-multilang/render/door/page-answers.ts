/**
 * Answers for a path that has a page: its text, a redirect to its new path, or the site's error page if its template
 * fails.
 */
import { composeInputOf, viewOf, type Asked } from "./asked.ts";
import { pathAddress } from "../addresses/addresses.ts";
import { redirectReply } from "../addresses/redirects.ts";
import { errorAnswer, faultMs } from "./error-answers.ts";
import { TemplateFault } from "../templates/fault.ts";
import type { Answer, FoundPages, KeptPages } from "./kept-pages.ts";
import { cacheControlOf, movedTo, pageReply, typeOf } from "./replies.ts";
import { findPage } from "../addresses/find.ts";
import { compose } from "../compose.ts";
import { schemeOf, type CmsContext } from "../../context.ts";

/** What the door keeps in memory. */
interface Memory {
  readonly kept: KeptPages;
  readonly foundPages: FoundPages;
}

/** Null if the path leads nowhere. */
export async function pageAnswer(ctx: CmsContext, memory: Memory, asked: Asked, path: string): Promise<Answer | null> {
  try {
    return await pageOf(ctx, memory.foundPages, asked, path);
  } catch (error) {
    if (!(error instanceof TemplateFault)) throw error;
    const { state, domain, log } = asked;
    log.error("a page of a site failed", { site: state.site.code, domain: domain.name, path, error: error.message });
    const reply = await errorAnswer(ctx, memory.kept, asked, "500");
    return { reply, shared: true, until: Date.now() + faultMs, page: asked.page };
  }
}

async function pageOf(ctx: CmsContext, foundPages: FoundPages, asked: Asked, path: string): Promise<Answer | null> {
  const found = foundPages.get(asked, path) ?? (await findPage(ctx, viewOf(asked), path));
  if (!found) {
    const reply = await redirectReply(asked, path);
    return reply ? { reply, shared: false, until: 0, page: 1 } : null;
  }
  if ("redirect" in found) {
    const reply = movedTo(pathAddress(found.redirect) + asked.search);
    return { reply, shared: false, until: 0, page: 1 };
  }
  foundPages.put(asked, path, found);
  const made = await compose(ctx, composeInputOf(asked, schemeOf(ctx)), found);
  const { text, locale, page, pageNumber, shared, until } = made;
  const cacheControl = shared ? cacheControlOf(page.cacheSeconds) : "private, no-cache";
  const reply = pageReply({ status: 200, text, type: typeOf(path), locale, cacheControl });
  return { reply, shared, until, page: pageNumber };
}

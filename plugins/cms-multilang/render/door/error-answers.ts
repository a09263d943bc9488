/** A site's answer for a missing path, and for a page whose template fails. */
import type { Reply } from "platform";
import type { ErrorKind } from "../../pages/error-pages.ts";
import { composeInputOf, viewOf, type Asked } from "./asked.ts";
import { TemplateFault } from "../templates/fault.ts";
import { effectiveLocale } from "../addresses/locale.ts";
import { choiceOf, completePage } from "../addresses/find.ts";
import type { Answer, KeptPages } from "./kept-pages.ts";
import { htmlType, noStore, pageReply, plainPage } from "./replies.ts";
import { chooseVariant } from "../addresses/variant.ts";
import { errorPages } from "../addresses/variant-store.ts";
import { compose } from "../compose.ts";
import { schemeOf, type CmsContext } from "../../context.ts";

/** How long a template that fails is not run again. */
export const faultMs = 5000;

/** The site's own page of this kind. A plain one stands in if it has none, or if its own one fails too. */
export async function errorAnswer(ctx: CmsContext, kept: KeptPages, request: Asked, kind: ErrorKind): Promise<Reply> {
  // Kept once, whichever part of a list was requested.
  const asked = { ...request, page: 1 };
  const { state, domain, lang } = asked;
  const locale = effectiveLocale({ page: null, lang, domain: domain.locale, site: state.site.locale });
  const plain = (until: number): Answer => ({ reply: plainPage(kind, locale), shared: true, until, page: 1 });
  // No path holds this character, so no page's key can equal it.
  const reply = await kept.get(asked, `\u0000${kind}`, async () => {
    try {
      return (await ownPage(ctx, asked, kind)) ?? plain(Infinity);
    } catch (error) {
      if (!(error instanceof TemplateFault)) throw error;
      asked.log.error("a site's error page failed", { site: asked.state.site.code, kind, error: error.message });
      return plain(Date.now() + faultMs);
    }
  });
  return reply ?? plainPage(kind, locale);
}

async function ownPage(ctx: CmsContext, asked: Asked, kind: ErrorKind): Promise<Answer | undefined> {
  const view = viewOf(asked);
  const page = chooseVariant(await errorPages(ctx, asked.state.site, kind), choiceOf(view));
  if (!page) return undefined;
  const found = await completePage(ctx, view, page);
  const { text, locale, shared, until } = await compose(ctx, composeInputOf(asked, schemeOf(ctx)), found);
  const reply = pageReply({ status: Number(kind), text, type: htmlType, locale, cacheControl: noStore });
  return { reply, shared, until, page: 1 };
}

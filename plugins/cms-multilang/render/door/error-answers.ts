/** A site's answer for a missing path, and for a page whose template fails. */
import type { Reply } from "platform";
import type { ErrorKind } from "../../pages/error-pages.ts";
import { composeInputOf, viewOf, type Asked } from "./asked.ts";
import type { Composer } from "../compose.ts";
import { TemplateFault } from "../templates/fault.ts";
import { effectiveLocale } from "../addresses/locale.ts";
import { choiceOf, type Finder } from "../addresses/find.ts";
import type { Answer, KeptPages } from "./kept-pages.ts";
import type { RenderStore } from "../render-store.ts";
import { htmlType, noStore, pageReply, plainPage } from "./replies.ts";
import { chooseVariant } from "../addresses/variant.ts";

interface Needed {
  readonly renderStore: Pick<RenderStore, "errorPages">;
  readonly finder: Pick<Finder, "complete">;
  readonly composer: Composer;
  readonly kept: KeptPages;
  readonly scheme: () => string;
  readonly now: () => number;
}

/** Answers with the site's own page of this kind. */
export type ErrorAnswers = (asked: Asked, kind: ErrorKind) => Promise<Reply>;

/** How long a template that fails is not run again. */
export const faultMs = 5000;

/** A plain page stands in if the site has none of its own, or if its own one fails too. */
export function createErrorAnswers({ renderStore, finder, composer, kept, scheme, now }: Needed): ErrorAnswers {
  const own = async (asked: Asked, kind: ErrorKind): Promise<Answer | undefined> => {
    const view = viewOf(asked);
    const page = chooseVariant(await renderStore.errorPages(asked.state.site, kind), choiceOf(view));
    if (!page) return undefined;
    const found = await finder.complete(view, page);
    const { text, locale, shared, until } = await composer.compose(composeInputOf(asked, scheme()), found);
    const reply = pageReply({ status: Number(kind), text, type: htmlType, locale, cacheControl: noStore });
    return { reply, shared, until, page: 1 };
  };

  return async (request, kind) => {
    // Kept once, whichever part of a list was requested.
    const asked = { ...request, page: 1 };
    const { state, domain, lang } = asked;
    const locale = effectiveLocale({ page: null, lang, domain: domain.locale, site: state.site.locale });
    const plain = (until: number): Answer => ({ reply: plainPage(kind, locale), shared: true, until, page: 1 });
    // No path holds this character, so no page's key can equal it.
    const reply = await kept.get(asked, `\u0000${kind}`, async () => {
      try {
        return (await own(asked, kind)) ?? plain(Infinity);
      } catch (error) {
        if (!(error instanceof TemplateFault)) throw error;
        asked.log.error("a site's error page failed", { site: asked.state.site.code, kind, error: error.message });
        return plain(now() + faultMs);
      }
    });
    return reply ?? plainPage(kind, locale);
  };
}

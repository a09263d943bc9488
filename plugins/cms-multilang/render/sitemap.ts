/** `/sitemap.xml` and `/robots.txt`. SPEC A.6, CONTRACT 11. */
import type { Reply } from "platform";
import type { RenderStore } from "../render-store.ts";
import { addressOf, type Domain } from "./addresses.ts";
import type { SiteState } from "./cache.ts";
import { pageReply } from "./replies.ts";

export interface Sitemap {
  /** Null where the path is none of these. */
  answer(path: string, state: SiteState, domain: Domain, scheme: string): Promise<Reply | Response | null>;
}

const daily = "public, max-age=0, must-revalidate";

export function createSitemap(_store: RenderStore): Sitemap {
  return {
    async answer(path, _state, domain, scheme) {
      if (path === "robots.txt") return robots(domain, scheme);
      return null;
    },
  };
}

function robots(domain: Domain, scheme: string): Reply {
  const text = `User-agent: *\nAllow: /\n\nSitemap: ${addressOf(scheme, domain, "sitemap.xml")}\n`;
  return pageReply({ status: 200, text, type: "text/plain; charset=utf-8", cacheControl: daily });
}

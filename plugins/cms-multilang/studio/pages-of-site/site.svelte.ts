/** A site with its domains, and as many of its pages as have been asked for. */
import { ApiError, base, Editor, get, session, text } from "studio";
import { domainsIn, pagesIn, siteOf, type Site, type SiteDomain, type SitePage } from "./site-page.ts";
import { say } from "./words.ts";

const batch = 200;
/** A tree of more says little: one searches instead. */
const most = 2000;

/** The form of a page of a site, whose pages stand below the site's own address. */
export class PageEditor extends Editor {
  private readonly site: string;

  constructor(site: string, id: string | undefined) {
    super(session.resource("/cms/pages"), id === undefined ? [] : [id], id === undefined);
    this.site = site;
  }

  protected override pageOf([id]: readonly string[]): string {
    return [base, "cms", encodeURIComponent(this.site), "pages", ...(id === undefined ? [] : [id])].join("/");
  }
}

export class SiteOf {
  site = $state.raw<Site | undefined>();
  domains = $state.raw<readonly SiteDomain[]>([]);
  pages = $state.raw<readonly SitePage[]>([]);
  total = $state<number | undefined>();
  problem = $state("");
  private readonly ref: string;

  /** Its code or id, as it stands in the address. */
  constructor(ref: string) {
    this.ref = ref;
  }

  async load(signal: AbortSignal): Promise<void> {
    if (this.site) return;
    await this.tried(signal, async () => {
      const { json } = await get(`/cms/sites/${encodeURIComponent(this.ref)}.json`, signal);
      const site = siteOf(json);
      if (!site) return;
      const query = new URLSearchParams({ site_code: site.code, limit: "100" });
      const domains = await get(`/cms/domains.json?${query}`, signal);
      [this.site, this.domains] = [site, domainsIn(domains.json)];
    });
  }

  /** The pages that are called so, or all; the first ones are shown while the others come. */
  async list(words: string, signal: AbortSignal): Promise<void> {
    const code = this.site?.code;
    if (code === undefined) return;
    await this.tried(signal, async () => {
      let found: readonly SitePage[] = [];
      for (let offset = 0; offset < most; offset += batch) {
        const query = new URLSearchParams({ site_code: code, limit: `${batch}`, offset: `${offset}` });
        if (words !== "") query.set("q", `*${words}*`);
        const { json, headers } = await get(`/cms/pages.json?${query}`, signal);
        const rows = pagesIn(json);
        found = [...found, ...rows];
        this.pages = found;
        this.total = Number(headers.get("x-total-count"));
        if (rows.length < batch) break;
      }
    });
  }

  /** A page's master and the slaves of either, without the page itself. */
  async family(page: SitePage, signal: AbortSignal): Promise<readonly SitePage[]> {
    const root = page.masterCode ?? page.code;
    const code = this.site?.code;
    if (code === undefined) return [];
    const of = (name: string) =>
      `/cms/pages.json?${new URLSearchParams({ site_code: code, [name]: root, limit: "50" })}`;
    const answers = await Promise.all([get(of("code"), signal), get(of("based_on_page_code"), signal)]);
    return answers.flatMap(({ json }) => pagesIn(json)).filter(({ id }) => id !== page.id);
  }

  private async tried(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.problem = "";
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      this.problem = error.status === 404 ? say("noSite") : error.message || text.messages.offline;
    }
  }
}

/** What a page is made of: its own template, its layout's, and the paragraphs that both print. */
import { LiquidFault } from "platform";
import type { LayoutData, PageData, ParagraphData, RenderStore, SiteData } from "../render-store.ts";
import { maxTags, tagsIn, type SiteEngine, type SiteTemplate } from "./engine.ts";
import { blaming } from "./fault.ts";
import type { FoundPage, View } from "./find.ts";

export interface Templates {
  readonly page: SiteTemplate;
  readonly layout: (SiteTemplate & { readonly data: LayoutData }) | undefined;
  readonly paragraphs: readonly Paragraph[];
}

export interface Paragraph {
  readonly data: ParagraphData;
  readonly template: SiteTemplate;
}

/** Throws a TemplateFault. */
export type ReadTemplates = (view: View, found: FoundPage) => Promise<Templates>;

type Parse = (name: string, source: string) => SiteTemplate;

/** Of paragraphs that print paragraphs. */
const maxParagraphRounds = 5;
/** As many as a page may print. */
const maxChars = 2_000_000;

export function createTemplates(store: RenderStore, engine: SiteEngine): ReadTemplates {
  /** A page that was found is one object until its site changes: what belongs to it is read once. */
  const known = new WeakMap<FoundPage, Templates>();
  return async (view, found) => {
    const templates = known.get(found) ?? (await read(view, found.page));
    known.set(found, templates);
    return templates;
  };

  async function read({ state }: View, page: PageData): Promise<Templates> {
    const parse = boundedParse(engine);
    const layoutData = page.layoutId === null ? undefined : await state.layout(page.layoutId);
    const template = parse(`page ${page.code}`, page.content);
    const layout = layoutData && { ...parse(`layout ${layoutData.code}`, layoutData.content), data: layoutData };
    const roots = layout ? [template, layout] : [template];
    return { page: template, layout, paragraphs: await paragraphsOf(store, state.site, page, roots, parse) };
  }
}

async function paragraphsOf(
  store: RenderStore,
  site: SiteData,
  page: PageData,
  roots: readonly SiteTemplate[],
  parse: Parse,
): Promise<Paragraph[]> {
  const found = new Map<string, Paragraph>();
  const asked = new Set<string>();
  let hasAll = false;
  let open = roots;
  for (let round = 1; round <= maxParagraphRounds && open.length > 0; round++) {
    const codes = [...new Set(open.flatMap(({ paragraphs }) => [...paragraphs]))].filter((code) => !asked.has(code));
    const wantsAll: boolean = !hasAll && open.some(({ allParagraphs }) => allParagraphs);
    if (codes.length === 0 && !wantsAll) break;
    hasAll ||= wantsAll;
    for (const code of codes) asked.add(code);
    const pages = wantsAll ? [page.id, ...(page.basedOnPageId === null ? [] : [page.basedOnPageId])] : [];
    const rows = (await store.paragraphs(site, pages, codes)).filter(({ code }) => !found.has(code));
    const fresh = rows.map((data) => ({ data, template: parse(`paragraph ${data.code}`, data.content) }));
    for (const one of fresh) found.set(one.data.code, one);
    open = fresh.map(({ template }) => template);
  }
  return [...found.values()].toSorted((a, b) => a.data.position - b.data.position || a.data.id - b.data.id);
}

/** A page with all that belongs to it is not more work to parse than one template may be. */
function boundedParse(engine: SiteEngine): Parse {
  let [tags, chars] = [0, 0];
  return (name, source) =>
    blaming(name, () => {
      tags += tagsIn(source);
      chars += source.length;
      if (tags <= maxTags && chars <= maxChars) return engine.parse(source);
      const message = `a page with its layout and paragraphs holds at most ${maxTags} tags and ${maxChars} characters`;
      throw new LiquidFault("limit", message, { line: 1, column: 1 }, undefined);
    });
}

/** Creating, changing and deleting pages. behaviour 2.7, 8 and A.4. */
import { field, mistakes, Type, type Static } from "platform";
import { codeField, type Ref, cleanPath } from "../code.ts";
import {
  fieldTimes,
  codeRef,
  templateField,
  fieldsField,
  flag,
  idRef,
  localeField,
  nameField,
  pathField,
  positionField,
  siteRef,
  textField,
  checkTexts,
} from "../input.ts";
import { codeOf, locked, mustStay, named, nameOf, orNull, reread, siteOf, there } from "../edit.ts";
import type { Mistakes, SiteEdit, Writer } from "../edit.ts";
import * as kindStore from "../kind-store.ts";
import { layouts, pages, type PageInput, type PageView, type Relative } from "./store.ts";
import * as pageStore from "./store.ts";

export const PageBody = Type.Object({
  code: Type.Optional(codeField()),
  name: nameField(),
  path: pathField(),
  locale: localeField(),
  kind: Type.Optional(field.code()),
  layout_id: idRef(),
  layout_code: codeRef(),
  content: templateField(),
  fields: fieldsField(),
  html_title: textField(1000),
  html_description: textField(5000),
  html_keywords: textField(5000),
  based_on_page_id: idRef(),
  based_on_page_code: codeRef(),
  active: flag(),
  position: positionField(),
  cache_seconds: Type.Optional(field.nullable(Type.Integer({ minimum: 0, maximum: 31_536_000 }))),
  ...siteRef(),
});
export type PageBody = Static<typeof PageBody>;

export const pageWriter: Writer<PageBody, PageView> = {
  async create(edit, body) {
    const wrong = mistakes();
    const site = await siteOf(edit, wrong, body);
    if (site) await edit.touch(site.id);
    const name = nameOf(wrong, body.name, body.code);
    const code = site ? await codeOf(edit, pages, { code: body.code, name, siteId: site.id }) : "";
    const path = pathOf(wrong, body.path ?? code);
    const layoutId = (site && (await layoutOf(edit, wrong, body, site.id))) ?? null;
    const place = { id: undefined, path, basedOnPageId: null };
    const master = site && (await masterOf(edit, wrong, body, { ...place, siteId: site.id }));
    checkTexts(wrong, edit.cms.engine, body);
    wrong.check();
    const { id: siteId } = there(site);
    const input = inputOf(undefined, body, { code, name, path, layoutId, master });
    const id = await kindStore.insert(pages, edit, input, siteId);
    await pageStore.dropRedirect(edit, siteId, input);
    return told(edit, "create", id);
  },

  async update(edit, ref, body, expected) {
    const before = await locked(edit, pages, ref, expected);
    const { id, siteId } = before;
    const wrong = mistakes();
    mustStay(wrong, body, before);
    const path = body.path === undefined ? before.path : pathOf(wrong, body.path);
    const layout = await layoutOf(edit, wrong, body, siteId);
    const master = await masterOf(edit, wrong, body, { ...before, path });
    checkTexts(wrong, edit.cms.engine, body);
    wrong.check();
    const { code = before.code, name = before.name } = body;
    const layoutId = layout === undefined ? before.layoutId : layout;
    const input = inputOf(before, body, { code, name, path, layoutId, master });
    await kindStore.update(pages, edit, id, input);
    if (code !== before.code) await kindStore.codeChanged(pages, edit, id);
    await pageStore.dropRedirect(edit, siteId, input);
    if (path !== before.path) await pageStore.keepRedirect(edit, before);
    return told(edit, "update", id);
  },

  /** Its slaves become independent. behaviour A.4.5. */
  async remove(edit, ref, expected) {
    const { tx, account } = edit;
    const row = await locked(edit, pages, ref, expected);
    const released = await pageStore.release(edit, row.id);
    await kindStore.remove(pages, edit, row.id);
    await edit.cms.changed(pageEvent(account.id, "destroy", row), tx);
    for (const id of released) await told(edit, "update", id);
  },
};

/** Reads the page again and announces the change. */
async function told(edit: SiteEdit, kind: "create" | "update", id: number): Promise<PageView> {
  const row = await reread(edit, pages, id);
  await edit.cms.changed(pageEvent(edit.account.id, kind, row), edit.tx);
  return row;
}

/** The layout in the body. Undefined: the body does not say; null: none. */
async function layoutOf({ tx, account }: SiteEdit, wrong: Mistakes, body: PageBody, siteId: number) {
  const given = { as: "layout", what: "layout", code: body.layout_code, id: body.layout_id, siteId };
  const layout = await named(wrong, given, (ref) => kindStore.find(layouts, tx, account.id, ref));
  return layout && layout.id;
}

async function masterOf(edit: SiteEdit, wrong: Mistakes, body: PageBody, page: Slave & Based) {
  const slaves = page.id === undefined ? [] : await pageStore.slavesOf(edit, page.id);
  return masterIn(wrong, page, slaves, body, async (ref) => (await pageStore.relatives(edit, ref))[0]);
}

type Based = Pick<Relative, "basedOnPageId">;

/** The master that the page will have. Adds a mistake if the rules of behaviour A.4 forbid it. */
export async function masterIn<Row extends Relative>(
  wrong: Mistakes,
  page: Slave & Based,
  slaves: readonly Relative[],
  { based_on_page_code: code, based_on_page_id: id }: Pick<PageBody, "based_on_page_code" | "based_on_page_id">,
  look: (ref: Ref) => Promise<Row | undefined>,
): Promise<Row | undefined> {
  const asked = await named(wrong, { as: "based_on_page", what: "page", code, id, siteId: page.siteId }, look);
  const kept = page.basedOnPageId === null ? undefined : { id: page.basedOnPageId };
  const master = asked === undefined ? kept && (await look(kept)) : (asked ?? undefined);
  const mistake = masterMistake(page, master, slaves);
  const at = code ? "based_on_page_code" : "based_on_page_id";
  if (mistake) wrong.add(mistake.field === "master" ? at : "path", mistake.message);
  return master;
}

export function pageEvent(accountId: number, kind: "create" | "update" | "destroy", row: PageView) {
  return { accountId, sourceType: "Cms::Page", kind, id: row.id, data: pages.toApi(row) };
}

function pathOf(wrong: Mistakes, given: string): string {
  const clean = cleanPath(given);
  if ("path" in clean) return clean.path;
  wrong.add("path", clean.mistake);
  return given;
}

interface Resolved extends Pick<PageInput, "code" | "name" | "path" | "layoutId"> {
  readonly master: Relative | undefined;
}

function inputOf(before: PageView | undefined, body: PageBody, resolved: Resolved): PageInput {
  const { master, ...rest } = resolved;
  const after = {
    ...rest,
    locale: orNull(body.locale, before?.locale) || null,
    kind: body.kind ?? before?.kind ?? "text",
    content: body.content === undefined ? (before?.content ?? "") : (body.content ?? ""),
    fields: body.fields ?? before?.fields ?? {},
    htmlTitle: orNull(body.html_title, before?.htmlTitle),
    htmlDescription: orNull(body.html_description, before?.htmlDescription),
    htmlKeywords: orNull(body.html_keywords, before?.htmlKeywords),
    basedOnPageId: master?.id ?? null,
    basedOnPath: master?.path ?? null,
    active: body.active ?? before?.active ?? true,
    position: body.position ?? before?.position ?? 0,
    cacheSeconds: body.cache_seconds === undefined ? (before?.cacheSeconds ?? null) : body.cache_seconds,
  };
  return { ...after, fieldTimes: fieldTimes(before, after, new Date()) };
}

/** A page as it will be stored; it has no id before it is created. */
export interface Slave {
  readonly id: number | undefined;
  readonly siteId: number;
  readonly path: string;
}

export interface MasterMistake {
  readonly field: "master" | "path";
  readonly message: string;
}

/** What forbids that `page` is based on `master`; `slaves` are the pages based on `page`. */
export function masterMistake(
  page: Slave,
  master: Relative | undefined,
  slaves: readonly Pick<Relative, "path">[],
): MasterMistake | undefined {
  const of = (where: MasterMistake["field"], message: string) => ({ field: where, message });
  if (master) {
    if (master.id === page.id) return of("master", "a page cannot be based on itself");
    if (master.siteId !== page.siteId) return of("master", "names a page of another site");
    if (master.basedOnPageId !== null) return of("master", "names a page that is itself based on another page");
    if (slaves.length > 0) return of("master", "must be empty: other pages are based on this one");
    if (master.path === "") return of("master", "names the home page, which is translated by its fields");
    if (master.path === page.path) return of("path", "must differ from the path of the page it is based on");
  }
  if (slaves.length > 0 && page.path === "")
    return of(
      "path",
      "must not be empty: other pages are based on this one, and no page can be based on the home page",
    );
  if (slaves.some(({ path }) => path === page.path))
    return of("path", "is already the path of a page based on this one");
  return undefined;
}

/** Creating, changing and deleting pages. behaviour 2.7, 8 and A.4. */
import { field, mistakes, Type, type Static } from "platform";
import type { SiteEdit, Expected } from "../edit.ts";
import { codeField, type Ref } from "../code.ts";
import { fieldTimes } from "./field-times.ts";
import {
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
} from "../input.ts";
import { masterMistake, type Relative } from "./master.ts";
import { toApi, type PageInput, type PageView } from "./page-store.ts";
import { cleanPath } from "./path.ts";
import { checkTexts } from "../texts.ts";
import { codeOf, mustStay, named, nameOf, orNull, siteOf, there, type Mistakes, lockedIn, reread } from "../write.ts";
import * as pageStore from "./page-store.ts";
import * as layoutStore from "./layout-store.ts";
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

export async function create(edit: SiteEdit, body: PageBody): Promise<PageView> {
  const { tx, account, userId } = edit;
  const wrong = mistakes();
  const site = await siteOf(edit, wrong, body);
  if (site) await edit.touch(site.id);
  const name = nameOf(wrong, body.name, body.code);
  const code = site
    ? await codeOf(edit, pageStore.taken, { code: body.code, name, kind: "page", siteId: site.id })
    : "";
  const path = pathOf(wrong, body.path ?? code);
  const layoutId = (site && (await layoutOf(edit, wrong, body, site.id))) ?? null;
  const place = { id: undefined, path, basedOnPageId: null };
  const master = site && (await masterOf(edit, wrong, body, { ...place, siteId: site.id }));
  checkTexts(wrong, edit.cms.engine, body);
  wrong.check();
  const { id: siteId } = there(site);
  const input = inputOf(undefined, body, { code, name, path, layoutId, master });
  const id = await pageStore.insert(tx, account.id, siteId, userId, input);
  await pageStore.dropRedirect(tx, account.id, siteId, path, input.locale);
  return told(edit, "create", id);
}

export async function update(edit: SiteEdit, ref: Ref, body: PageBody, expected: Expected): Promise<PageView> {
  const { tx, account, userId } = edit;
  const before = await lockedIn(edit, pageStore.find, ref, expected);
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
  await pageStore.update(tx, account.id, id, userId, input);
  if (code !== before.code) await pageStore.codeChanged(tx, account.id, id);
  await pageStore.dropRedirect(tx, account.id, siteId, path, input.locale);
  if (path !== before.path) await pageStore.keepRedirect(tx, before);
  return told(edit, "update", id);
}

/** Its slaves become independent. behaviour A.4.5. */
export async function remove(edit: SiteEdit, ref: Ref, expected: Expected): Promise<void> {
  const { tx, account } = edit;
  const row = await lockedIn(edit, pageStore.find, ref, expected);
  const released = await pageStore.release(tx, account.id, row.id);
  await pageStore.remove(tx, account.id, row.id);
  await edit.cms.changed(pageEvent(account.id, "destroy", row), tx);
  for (const id of released) await told(edit, "update", id);
}

/** Reads the page again and announces the change. */
async function told(edit: SiteEdit, kind: "create" | "update", id: number): Promise<PageView> {
  const row = await reread(edit, pageStore.find, id);
  await edit.cms.changed(pageEvent(edit.account.id, kind, row), edit.tx);
  return row;
}

/** The layout in the body. Undefined: the body does not say; null: none. */
async function layoutOf({ tx, account }: SiteEdit, wrong: Mistakes, body: PageBody, siteId: number) {
  const given = { as: "layout", what: "layout", code: body.layout_code, id: body.layout_id, siteId };
  const layout = await named(wrong, given, (ref) => layoutStore.find(tx, account.id, ref));
  return layout && layout.id;
}

/** The master that the page will have. Adds a mistake if the rules of behaviour A.4 forbid it. */
async function masterOf(
  { tx, account }: SiteEdit,
  wrong: Mistakes,
  body: PageBody,
  page: { id: number | undefined; siteId: number; path: string; basedOnPageId: number | null },
): Promise<Relative | undefined> {
  const find = async (ref: Ref) => (await pageStore.relatives(tx, account.id, ref))[0];
  const { based_on_page_code: code, based_on_page_id: id } = body;
  const given = { as: "based_on_page", what: "page", code, id, siteId: page.siteId };
  const asked = await named(wrong, given, find);
  const kept = page.basedOnPageId === null ? undefined : { id: page.basedOnPageId };
  const master = asked === undefined ? kept && (await find(kept)) : (asked ?? undefined);
  const slaves = page.id === undefined ? [] : await pageStore.slavesOf(tx, account.id, page.id);
  const mistake = masterMistake(page, master, slaves);
  const at = body.based_on_page_code ? "based_on_page_code" : "based_on_page_id";
  if (mistake) wrong.add(mistake.field === "master" ? at : "path", mistake.message);
  return master;
}

export function pageEvent(accountId: number, kind: "create" | "update" | "destroy", row: PageView) {
  return { accountId, sourceType: "Cms::Page", kind, id: row.id, data: toApi(row) };
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

/** Makes a site match its files, in one transaction and through the same writers as the API. */
import { checkerOf, isObject, mistakes, parseJson, HttpError, ValidationError } from "platform";
import { dropRedirects, siteRecords } from "./store.ts";
import { runEdit, type Author, type SiteEdit } from "../edit.ts";
import { refOf, type Ref, cleanPath } from "../code.ts";
import { cleanTarget, writingOrder } from "../redirects/rule.ts";
import { parsePublished } from "../articles/article.ts";
import { remove, update, type Kind } from "../kind.ts";
import { find, type KindRow } from "../kind-store.ts";
import { checkTexts, checkTokens, type TemplateCheck } from "../input.ts";
import { difference, type Difference, pageSteps } from "./diff.ts";
import { kinds as files, type KindName, type SiteRecord } from "./kinds.ts";
import { type Tree, fileOf, keyOf, type FileMistake } from "./tree.ts";
import { textOf, type Values } from "./yaml.ts";
import type { CmsContext } from "../context.ts";
import { kinds } from "../resources.ts";

interface PushOptions {
  readonly author: Author;
  readonly site: string;
  /** Whether records without a file are deleted. */
  readonly deletes: boolean;
  readonly dryRun: boolean;
}

/** What the site shall become. A function gets the current records while the site is locked. */
export type Wanted = Tree | ((now: readonly SiteRecord[]) => Tree);

/** Throws FileMistakes if anything is wrong; then nothing changes. */
export async function push(ctx: CmsContext, given: Wanted, options: PushOptions): Promise<Difference> {
  const { author, site: code, deletes, dryRun } = options;
  const { timezone } = author.account;
  // Mistakes that the files alone show are reported before the database is asked.
  if (typeof given !== "function") check(given, ctx.engine, timezone);
  let found: Difference | undefined;
  try {
    await runEdit(ctx, author, async (edit) => {
      const there = await find(kinds.site, edit.tx, author.account.id, siteRef(code));
      if (there) await edit.touch(there.id);
      const now = there ? await siteRecords(edit.tx, author.account.id, there.id) : [];
      if (typeof given === "function" && !there) throw new Error(`there is no site ${code}`);
      const tree = typeof given === "function" ? given(now) : given;
      if (typeof given === "function") check(tree, ctx.engine, timezone);
      const wanted = tree.records.map((record) => normal(record, timezone));
      found = difference(now, withPrimary(wanted, now));
      await apply({ edit, tree, code, siteId: there?.id }, found, deletes);
      if (dryRun) throw new DryRun();
    });
  } catch (error) {
    if (!(error instanceof DryRun)) throw error;
  }
  if (!found) throw new Error("a change that ended has a difference");
  return found;
}

/** Rolls back the transaction of a dry run. */
class DryRun extends Error {}

function siteRef(code: string): Ref {
  const ref = refOf(code);
  if (!ref || "id" in ref) throw new Error(`"${code}" cannot be a site's code`);
  return ref;
}

/** Checks everything that needs no database, in all files at once. */
function check(tree: Tree, engine: TemplateCheck, timezone: string): void {
  const found = [...tree.mistakes];
  const checkers = new Map<KindName, (value: unknown) => unknown>();
  for (const record of tree.records) {
    const checker = checkers.get(record.kind) ?? checkerOf(kindOf(record.kind).bodies.create);
    checkers.set(record.kind, checker);
    const wrong = mistakes();
    try {
      // The same refusals as for a request's body: values that PostgreSQL cannot store, nesting that is too deep.
      parseJson(JSON.stringify(record.values));
      checker(bodyOf(record, "site"));
      const { path, published_at: published, content, fields } = record.values;
      if (typeof path === "string") {
        const clean = cleanPath(path);
        if ("mistake" in clean) wrong.add("path", clean.mistake);
      }
      const target = record.kind === "redirect" ? cleanTarget(textOf(record.values["to"])) : undefined;
      if (target && "mistake" in target) wrong.add("to", target.mistake);
      if (typeof published === "string" && !parsePublished(published, timezone))
        wrong.add("published_at", "must be a date, or a date with time such as 2026-01-31T10:00:00Z");
      const map = isObject(fields) ? fields : {};
      // An article's content is printed as it is and is not a template.
      const template = record.kind === "article" ? "" : textOf(content);
      checkTexts(wrong, engine, { content: template, fields: map });
      checkTokens(wrong, bodyOf(record, "site"));
      wrong.check();
    } catch (error) {
      found.push(...mistakesOf(error, tree, record));
    }
  }
  if (found.length > 0) throw new FileMistakes(found);
}

/** The record as the API would store it. */
export function normal(record: SiteRecord, timezone: string): SiteRecord {
  const { path, published_at: published } = record.values;
  const clean = typeof path === "string" ? cleanPath(path) : undefined;
  const target = record.kind === "redirect" ? cleanTarget(textOf(record.values["to"])) : undefined;
  const instant = typeof published === "string" ? parsePublished(published, timezone) : undefined;
  const emptied = Object.entries(record.values).map(([name, value]) => [
    name,
    value === "" && isNullable(record.kind, name) ? null : value,
  ]);
  const values: Values = {
    ...Object.fromEntries(emptied),
    ...(clean && "path" in clean && { path: clean.path === "" && record.kind === "category" ? null : clean.path }),
    ...(target && "href" in target && { to: target.href }),
    ...(instant && { published_at: instantText(instant) }),
  };
  return { ...record, values };
}

/** Leaves out milliseconds if they are zero. */
function instantText(instant: Date): string {
  return instant.toISOString().replace(".000Z", "Z");
}

function isNullable(kind: KindName, name: string): boolean {
  const spec = files.find((each) => each.name === kind)?.fields[name];
  return spec?.standard === null;
}

/** A site with domains has one primary. If no file names it, it stays the current one, else the first. */
function withPrimary(wanted: readonly SiteRecord[], now: readonly SiteRecord[]): SiteRecord[] {
  const domains = wanted.filter(({ kind }) => kind === "domain");
  if (domains.length === 0 || domains.some(({ values }) => values["primary"] === true)) return [...wanted];
  const current = now.find(({ kind, values }) => kind === "domain" && values["primary"] === true)?.code;
  const chosen = domains.find(({ code }) => code === current) ?? domains[0];
  return wanted.map((record) =>
    record === chosen ? { ...record, values: { ...record.values, primary: true } } : record,
  );
}

interface Work {
  readonly edit: SiteEdit;
  readonly tree: Tree;
  readonly code: string;
  readonly siteId: number | undefined;
}

type Step = { readonly record: SiteRecord; readonly changes?: Values };

async function apply(work: Work, found: Difference, deletes: boolean): Promise<void> {
  const steps: Step[] = [
    ...found.create.map((record) => ({ record })),
    ...found.update.map(({ after, changes }) => ({ record: after, changes })),
  ];
  const ofKind = (name: KindName) => steps.filter(({ record }) => record.kind === name);
  for (const step of ofKind("site")) await write(work, step);
  if (deletes) await removeExtra(work, found);
  for (const kind of ["domain", "layout", "category"] as const) {
    // The primary goes first, so that it takes over from the previous one.
    const primaryFirst = ofKind(kind).toSorted(
      (a, b) => Number(b.record.values["primary"] === true) - Number(a.record.values["primary"] === true),
    );
    for (const step of primaryFirst) await write(work, step);
  }
  await writePages(work, found);
  for (const kind of ["paragraph", "article"] as const) for (const step of ofKind(kind)) await write(work, step);
  for (const step of redirectSteps(work.tree, ofKind("redirect"))) await write(work, step);
}

/** In an order in which none leads back while others are still to be written. */
function redirectSteps({ records }: Tree, steps: readonly Step[]): Step[] {
  const domains = records.filter(({ kind }) => kind === "domain").map(({ code: name }, id) => ({ id, name }));
  const idOf = new Map(domains.map(({ id, name }) => [name, id]));
  const rules = records.flatMap(({ kind, code, values: { path, to, domain } }) =>
    kind === "redirect"
      ? [{ code, path: textOf(path), target: textOf(to), domainId: idOf.get(textOf(domain)) ?? null }]
      : [],
  );
  const rank = new Map(writingOrder(rules, domains).map(({ code }, at) => [code, at]));
  const at = ({ record }: Step) => rank.get(record.code) ?? 0;
  return steps.toSorted((a, b) => at(a) - at(b));
}

/**
 * A page may go to a path that another one still has, so the order matters. In a ring, one steps aside for a moment.
 */
async function writePages(work: Work, found: Difference): Promise<void> {
  const aside: string[] = [];
  for (const { record, changes, asideFirst } of pageSteps(found)) {
    if (!asideFirst) {
      await write(work, { record, ...(changes && { changes }) });
      continue;
    }
    const path = `moving-${crypto.randomUUID()}`;
    await write(work, { record, changes: { path } });
    aside.push(path);
  }
  if (aside.length > 0 && work.siteId !== undefined)
    await dropRedirects(work.edit.tx, work.edit.account.id, work.siteId, aside);
}

async function write({ edit, tree, code }: Work, { record, changes }: Step): Promise<void> {
  const kind = kindOf(record.kind);
  try {
    if (changes) await update(edit, kind, refTo(record, code), changes);
    else await kind.create(edit, bodyOf(record, code));
  } catch (error) {
    const wrong = mistakesOf(error, tree, record);
    throw wrong.length === 0 ? error : new FileMistakes(wrong);
  }
}

/** A record is removed before those that it refers to. */
const removalOrder: readonly KindName[] = ["redirect", "article", "paragraph", "page", "category", "layout", "domain"];

async function removeExtra(work: Work, found: Difference): Promise<void> {
  const { edit, code } = work;
  // Deleting a page deletes its paragraphs, so those that stay must leave it first.
  const gone = new Set(found.extra.filter(({ kind }) => kind === "page").map((page) => page.code));
  for (const { before } of found.update) {
    const page = before.kind === "paragraph" ? before.values["page_code"] : undefined;
    if (typeof page === "string" && gone.has(page))
      await update(edit, kinds.paragraph, refTo(before, code), { page_code: null });
  }
  for (const kind of removalOrder) {
    for (const record of found.extra.filter((each) => each.kind === kind))
      await remove(edit, kindOf(kind), refTo(record, code));
  }
}

/** The site is addressed by the code on the command line, every other record by its file's name within the site. */
function refTo(record: SiteRecord, site: string): Ref {
  return record.kind === "site" ? { code: site } : { code: record.code, site: { code: site } };
}

function bodyOf({ kind, code, values }: SiteRecord, site: string): Values {
  if (kind === "site") return { ...values, code: site };
  if (kind === "redirect") return { ...values, site_code: site };
  if (kind === "domain") return { ...values, name: code, site_code: site };
  return { ...values, code, site_code: site };
}

/** Treats the eight kinds alike. `check` has validated each body against the kind's own schema. */
function kindOf(name: KindName): Kind<KindRow> {
  return kinds[name] as unknown as Kind<KindRow>; // bodies are checked before
}

const mostShown = 50;

export class FileMistakes extends Error {
  override name = "FileMistakes";
  readonly mistakes: readonly FileMistake[];

  constructor(found: readonly FileMistake[]) {
    const lines = found.slice(0, mostShown).map(({ file, line, message }) => `  ${file}:${line}: ${message}`);
    const more = found.length > mostShown ? [`  and ${found.length - mostShown} more`] : [];
    super(["nothing was changed, because of mistakes in the files:", ...lines, ...more].join("\n"));
    this.mistakes = found;
  }
}

/** The refusal of a writer, at the lines of the record's file. Empty if the error is not about the file's contents. */
function mistakesOf(error: unknown, { places }: Tree, record: SiteRecord): FileMistake[] {
  const place = places.get(keyOf(record));
  const file = place?.file ?? fileOf(record);
  return Object.entries(fieldsOf(error)).flatMap(([field, messages]) =>
    messages.map((message) => {
      if (field !== "content") return { file, line: place?.lines.get(field) ?? 1, message: `${field} ${message}` };
      const [, line, column, rest] = /^line (\d+), column (\d+): ([^]*)$/.exec(message) ?? [];
      const bodyLine = place?.bodyLine ?? 1;
      if (line === undefined) return { file, line: bodyLine, message: `content ${message}` };
      return { file, line: bodyLine + Number(line) - 1, message: `column ${column}: ${rest}` };
    }),
  );
}

function fieldsOf(error: unknown): Readonly<Record<string, readonly string[]>> {
  if (error instanceof ValidationError) return error.fields;
  if (error instanceof HttpError && error.status < 500) return { base: [error.message] };
  // Constraints are named <table>_unique_<field>. The violation has ended the transaction.
  const constraint = error instanceof Error && "constraint_name" in error ? String(error.constraint_name) : "";
  const field = constraint.split("_unique_")[1];
  if (field === undefined) return {};
  const message = field === "name" ? "is already taken by another site" : "is already taken";
  return { [field]: [message] };
}

/**
 * Mistakes in templates, found while parsing or rendering, and the attributes of `{% articles … %}`: literals that are
 * read before Liquid runs. behaviour A.7, B.11.
 */
import { escapeHtml, LiquidFault, readBounds } from "platform";

/** Which template failed, and where. */
export class TemplateFault extends Error {
  readonly template: string;
  readonly fault: LiquidFault;

  constructor(template: string, fault: LiquidFault) {
    super(`${template}, line ${fault.line}, column ${fault.column}: ${fault.message}`, { cause: fault });
    this.name = "TemplateFault";
    this.template = template;
    this.fault = fault;
  }
}

/** Of what is read for a page, more than a page may have read. */
export function tooLarge(of: string, advice: string): TemplateFault {
  const message = `the ${of} hold more than ${readBounds.answerBytes} bytes: ${advice}`;
  return new TemplateFault(of, new LiquidFault("limit", message, { line: 1, column: 1 }, undefined));
}

export function blaming<T>(template: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof LiquidFault) throw new TemplateFault(template, error);
    throw error;
  }
}

/** A page with the reason, for people who are allowed to see it. */
export function faultPage(fault: TemplateFault): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>The page cannot be shown</title>
<h1>The page cannot be shown</h1><p>${escapeHtml(fault.message)}</p></html>
`;
}

/** What a block lists. */
export interface ArticlesQuery {
  /** Codes of categories, main or additional; empty = every article of the site. */
  readonly categories: readonly string[];
  readonly limit: number;
  readonly offset: number;
  /** The list continues at `?page=2`, with `limit` articles per page. */
  readonly paginate: boolean;
  readonly sort: { readonly by: SortKey; readonly descending: boolean };
  /** Whether the list prints the full text of its articles. */
  readonly listsContent: boolean;
  /** Whether the block has a part that shows one article. */
  readonly shows: boolean;
}

const sortKeys = ["published_at", "created_at", "updated_at", "title", "path"] as const;
export type SortKey = (typeof sortKeys)[number];

type Attributes = Omit<ArticlesQuery, "listsContent" | "shows">;

const known = ["category", "limit", "offset", "paginate", "sort"];
const maxCategories = 50;

/** Throws an Error with the reason; the parser adds the position. */
export function parseAttributes(args: string): Attributes {
  if (args.includes("{{"))
    throw new Error("attributes of `articles` are read before Liquid runs: {{ does not work there");
  const given = new Map<string, string>();
  const pattern = /\s*(?:,\s*)?([a-z_]+)\s*[=:]\s*(?:"([^"]*)"|'([^']*)'|(-?\d+)(?![\w.]))/iy;
  let end = 0;
  for (let match = pattern.exec(args); match; match = pattern.exec(args)) {
    const [, name = "", double, single, number] = match;
    if (!known.includes(name)) throw new Error(`\`articles\` has no attribute "${name}", only ${known.join(", ")}`);
    if (given.has(name)) throw new Error(`the attribute "${name}" appears twice`);
    given.set(name, double ?? single ?? number ?? "");
    end = pattern.lastIndex;
  }
  const rest = args.slice(end).trim();
  if (rest !== "")
    throw new Error(
      `attributes of \`articles\` are literals, such as category="news" limit=10: not ${rest.slice(0, 60)}`,
    );
  const paginate = given.has("paginate");
  if (paginate && (given.has("limit") || given.has("offset")))
    throw new Error("paginate already sets how many articles a page of the list has: leave out limit and offset");
  const limit = paginate ? "paginate" : "limit";
  return {
    categories: categoriesOf(given.get("category")),
    paginate,
    limit: wholeNumber(limit, given.get(limit), 20, 1, 100),
    offset: wholeNumber("offset", given.get("offset"), 0, 0, 10_000),
    sort: sortOf(given.get("sort") ?? "-published_at"),
  };
}

function categoriesOf(given: string | undefined): string[] {
  if (given === undefined) return [];
  const codes = given.split(",").map((code) => code.trim());
  if (codes.some((code) => code === "")) throw new Error("category takes codes, separated by commas");
  if (codes.length > maxCategories) throw new Error(`category takes at most ${maxCategories} codes`);
  return [...new Set(codes)];
}

function wholeNumber(name: string, given: string | undefined, standard: number, least: number, most: number): number {
  if (given === undefined) return standard;
  const number = /^\d{1,9}$/.test(given) ? Number(given) : NaN;
  if (!(number >= least && number <= most)) throw new Error(`${name} must be a whole number from ${least} to ${most}`);
  return number;
}

function sortOf(given: string): Attributes["sort"] {
  const by = sortKeys.find((key) => key === given.replace(/^-/, ""));
  if (!by) throw new Error(`sort must be one of ${sortKeys.join(", ")}; a - before it reverses the order`);
  return { by, descending: given.startsWith("-") };
}

/**
 * The tags that only sites have: `{% paragraph %}`, `{% paragraphs %}` and the block `{% articles %}`. behaviour B.11.
 */
import { Tag } from "liquidjs";
import type { Context, Emitter, Liquid, TagToken, Template, TopLevelToken } from "liquidjs";
import { LiquidFault } from "platform";
import { parseAttributes, type ArticlesQuery } from "./blocks.ts";
import type { Values } from "../values/fields.ts";

/** What must be fetched before a template is rendered. */
export interface Needs {
  readonly blocks: readonly ArticlesQuery[];
  readonly paragraphs: ReadonlySet<string>;
  readonly allParagraphs: boolean;
}

/** A paragraph, ready to print. */
export interface PrintedParagraph {
  /** Never copied: they are compiled once for this list. */
  readonly nodes: Template[];
  readonly values: Values;
}

/** What a block prints in this rendering. */
export type BlockResult =
  | { readonly part: "list"; readonly articles: readonly Values[] }
  | { readonly part: "show"; readonly article: Values };

/** What the tags need to know during a rendering. */
export interface Answers {
  paragraph(code: string): PrintedParagraph | undefined;
  paragraphs(): readonly PrintedParagraph[];
  block(query: ArticlesQuery): BlockResult | undefined;
}

/** Returns the answers for the rendering that a tag belongs to. */
export type AnswersIn = (context: Context) => Answers;

type TagClass = Liquid["tags"][string];
type TagParser = ConstructorParameters<TagClass>[3];
/** Tags that end or change the branch around a block. */
const branching = "else elsif when endif endunless endcase endfor endcapture endtablerow".split(" ");

type Part = "list" | "empty" | "show";

const maxBlocks = 20;

/** Throws at the first tag that is too many, with its position. */
export function needsOf(tags: readonly Tag[]): Needs {
  const blocks: ArticlesQuery[] = [];
  const paragraphs = new Set<string>();
  let allParagraphs = false;
  for (const tag of tags) {
    if (!(tag instanceof SiteTag)) continue;
    const { block, paragraph } = tag.need;
    if (paragraph === all) allParagraphs = true;
    else if (paragraph !== undefined) paragraphs.add(paragraph);
    if (!block) continue;
    if (block.paginate && blocks.some(({ paginate }) => paginate))
      throw faultAt(tag, "one `articles` block of a template may have paginate");
    if (blocks.push(block) > maxBlocks) throw faultAt(tag, `a template holds at most ${maxBlocks} \`articles\` blocks`);
  }
  return { blocks, paragraphs, allParagraphs };
}

function faultAt({ token }: Tag, message: string): LiquidFault {
  const [line = 1, column = 1] = token.getPosition();
  return new LiquidFault("syntax", message, { line, column }, undefined);
}

export function siteTags(answersIn: AnswersIn): Record<string, TagClass> {
  return { paragraph: paragraphTag(answersIn), paragraphs: paragraphsTag(answersIn), articles: articlesTag(answersIn) };
}

const all = Symbol("all paragraphs");

interface Need {
  readonly paragraph?: string | typeof all;
  readonly block?: ArticlesQuery;
}

abstract class SiteTag extends Tag {
  abstract readonly need: Need;
}

function paragraphTag(answersIn: AnswersIn): TagClass {
  return class extends SiteTag {
    readonly need: Need;
    readonly #code: string;

    constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
      super(token, rest, liquid);
      const [, double, single] = /^\s*(?:"([^"]+)"|'([^']+)')\s*$/.exec(token.args) ?? [];
      const code = double ?? single;
      if (code === undefined)
        throw new Error('`paragraph` takes the code of a paragraph as a literal: {% paragraph "code" %}');
      this.#code = code;
      this.need = { paragraph: code };
    }

    *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
      const found = answersIn(context).paragraph(this.#code);
      if (found) yield* print(this.liquid, found, context, emitter);
    }
  };
}

function paragraphsTag(answersIn: AnswersIn): TagClass {
  return class extends SiteTag {
    readonly need = { paragraph: all } as const;

    constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
      super(token, rest, liquid);
      if (token.args.trim() !== "")
        throw new Error("`paragraphs` takes no arguments: it prints all paragraphs of the page");
    }

    *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
      for (const found of answersIn(context).paragraphs()) yield* print(this.liquid, found, context, emitter);
    }
  };
}

function* print(
  liquid: Liquid,
  { nodes, values }: PrintedParagraph,
  context: Context,
  emitter: Emitter,
): Generator<unknown, void, unknown> {
  context.push({ paragraph: values });
  yield liquid.renderer.renderTemplates(nodes, context, emitter);
  context.pop();
}

function articlesTag(answersIn: AnswersIn): TagClass {
  return class extends SiteTag {
    readonly need: Need;
    readonly #intro: Template[];
    readonly #parts: ReadonlyMap<Part, Template[]>;
    readonly #query: ArticlesQuery;

    constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid, parser: TagParser) {
      super(token, rest, liquid);
      const attributes = parseAttributes(token.args);
      const { intro, parts, sources } = readParts(token, rest, parser);
      this.#intro = intro;
      this.#parts = parts;
      const listsContent = /\bcontent\b|\[/.test(sources.get("list") ?? "");
      // A part that prints nothing would be a blank page at the address of every article.
      const shows = parts.get("show")?.every(isBlank) === false;
      this.#query = { ...attributes, listsContent, shows };
      this.need = { block: this.#query };
    }

    *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
      const result = answersIn(context).block(this.#query);
      const { renderer } = this.liquid;
      if (!result) return;
      if (result.part === "show") {
        context.push({ article: result.article });
        yield renderer.renderTemplates(this.#parts.get("show") ?? [], context, emitter);
        context.pop();
        return;
      }
      yield renderer.renderTemplates(this.#intro, context, emitter);
      const { articles } = result;
      if (articles.length === 0) {
        yield renderer.renderTemplates(this.#parts.get("empty") ?? [], context, emitter);
        return;
      }
      for (const [index, article] of articles.entries()) {
        const last = index === articles.length - 1;
        const forloop = { index: index + 1, index0: index, first: index === 0, last, length: articles.length };
        context.push({ article, forloop });
        yield renderer.renderTemplates(this.#parts.get("list") ?? [], context, emitter);
        context.pop();
        const { breakCalled } = context;
        context.continueCalled = context.breakCalled = false;
        if (breakCalled) break;
      }
    }
  };
}

/** Text before the first part, such as `<ul>`, belongs to the list and is printed once, before it. */
function readParts(token: TagToken, rest: TopLevelToken[], parser: TagParser) {
  const intro: Template[] = [];
  const parts = new Map<Part, Template[]>();
  const sources = new Map<Part, string>();
  let part: { name: Part; nodes: Template[]; begin: number } | undefined;
  const close = (end: number) => part && sources.set(part.name, token.input.slice(part.begin, end));
  const open = (name: Part) => (tag: TagToken) => {
    if (tag.args.trim() !== "") throw new Error(`\`${name}\` takes no arguments`);
    if (parts.has(name)) throw new Error(`\`${name}\` appears twice in one \`articles\` block`);
    close(tag.begin);
    part = { name, nodes: [], begin: tag.end };
    parts.set(name, part.nodes);
  };
  const stream = parser
    .parseStream(rest)
    .on("tag:list", open("list"))
    .on("tag:empty", open("empty"))
    .on("tag:show", open("show"))
    .on("tag:articles", () => {
      throw new Error("an `articles` block cannot stand in another");
    })
    .on("tag:endarticles", (tag: TagToken) => {
      close(tag.begin);
      stream.stop();
    })
    .on("template", (node: Template) => {
      (part?.nodes ?? intro).push(node);
    })
    .on("end", () => {
      throw new Error("`articles` is not closed by {% endarticles %} in the same branch");
    });
  for (const name of branching) {
    stream.on(`tag:${name}`, () => {
      throw new Error("an `articles` block must stand in one branch: it cannot be split between branches");
    });
  }
  stream.start();
  if (!parts.has("list") && !parts.has("show")) throw new Error("an `articles` block needs {% list %} or {% show %}");
  return { intro: intro.every(isBlank) ? [] : intro, parts, sources };
}

function isBlank({ token }: Template): boolean {
  const text = token.input.slice(token.begin, token.end);
  return text.trim() === "" || /^\{%-?\s*(?:comment\b|#)/.test(text);
}

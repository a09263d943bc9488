/** LiquidJS, with its parser, operators, tags and loading of partials put under the guard. */
import {
  CaseTag,
  Context,
  defaultOperators,
  Drop,
  evalToken,
  ForTag,
  IncludeTag,
  LayoutTag,
  Liquid,
  Parser,
  RenderTag,
  TablerowTag,
  Tag,
  toValue,
  TypeGuards,
} from "liquidjs";
import type { Emitter, Operators, TagToken, Template as Node, TopLevelToken } from "liquidjs";
import { boundedFilters, chargeSearch } from "./liquid-filters.ts";
import { render } from "./liquid-compile.ts";
import { BoundedEmitter, guarded, limits, LimitReached, sizeOf, stepShift } from "./liquid-guard.ts";
import type { Run, RunLimits } from "./liquid-guard.ts";

// These tags are removed if there is no map of partials, because they could load nothing.
const loadingTags = ["include", "render", "layout", "block"];

/** A parsed text: what is rendered, and every tag in it at any depth. */
export interface Template {
  readonly nodes: Node[];
  readonly tags: readonly Tag[];
}

/** One engine with its registered filters and tags. Whatever belongs to one rendering is in its `Run`. */
export class GuardedLiquid extends Liquid {
  /** Parses a partial, using the cache. */
  load: (source: string, name: string) => Node[] = (source, name) => this.parse(source, name);

  constructor(hasPartials: boolean, { memory }: Pick<RunLimits, "memory"> = limits) {
    super({
      ownPropertyOnly: true,
      strictFilters: true,
      parseLimit: limits.parseChars,
      memoryLimit: memory,
      renderLimit: limits.renderMs,
      operators,
      // Never asked for, as no filter of its own is left. LiquidJS would ask `Intl`, whose tables take 9 ms and 4 MB.
      locale: "en",
      // Never called, because partials come from a map. LiquidJS would default to the file system.
      templates: {},
    });
    for (const name of Object.keys(this.filters)) this.unregisterFilter(name);
    for (const [name, filter] of boundedFilters()) this.registerFilter(name, filter);
    this.registerTag("case", BoundedCase);
    this.registerTag("for", BoundedFor);
    this.registerTag("tablerow", BoundedTablerow);
    this.registerTag("#", BoundedComment);
    this.registerTag("render", BoundRender);
    this.registerTag("include", BoundInclude);
    this.registerTag("layout", BoundLayout);
    if (!hasPartials) for (const name of loadingTags) Reflect.deleteProperty(this.tags, name);
    compileRenderer(this);
  }

  override parse(html: string, filepath?: string): Node[] {
    return this.read(html, filepath).nodes;
  }

  read(html: string, filepath?: string): Template {
    const parser = new BoundedParser(this);
    return { nodes: parser.parse(html, filepath), tags: parser.found };
  }

  /** The engine as the tags of one rendering see it, with the partials of that rendering. */
  within({ partials }: Run): Liquid {
    // oxlint-disable-next-line require-yield -- LiquidJS wants a generator
    const partial = function* (this: GuardedLiquid, file: string): Generator<unknown, Node[], Node[]> {
      // A computed name may be any value.
      const given: unknown = toValue(file);
      const name = typeof given === "string" ? given : "";
      const source = typeof partials === "function" ? partials(name) : ownText(partials, name);
      if (source === undefined) throw new Error(`there is no partial "${name.slice(0, 100)}"`);
      return this.load(source, name);
    };
    const bound: Liquid = Object.create(this, {
      _parsePartialFile: { value: partial },
      _parseLayoutFile: { value: partial },
    });
    return bound;
  }
}

function ownText(partials: Record<string, string> | undefined, name: string): string | undefined {
  return partials && Object.hasOwn(partials, name) ? partials[name] : undefined;
}

/** LiquidJS recurses as deeply as blocks and partials are nested. */
class BoundedParser extends Parser {
  #nesting = 0;
  readonly found: Tag[] = [];

  override parseToken(token: TopLevelToken, rest: TopLevelToken[]): ReturnType<Parser["parseToken"]> {
    this.#nesting++;
    try {
      if (this.#nesting > limits.nesting) throw new LimitReached("blocks are nested too deeply");
      const node = super.parseToken(token, rest);
      if (node instanceof Tag) this.found.push(node);
      return node;
    } finally {
      this.#nesting--;
    }
  }
}

/** Compiled nodes; LiquidJS's own rendering, under the same limits, for a context that may be interrupted. */
function compileRenderer({ renderer }: Liquid): void {
  const renderTemplates = renderer.renderTemplates.bind(renderer);
  renderer.renderTemplates = function* (templates: Node[], ctx: Context, emitter?: Emitter) {
    const context = guarded(ctx);
    const output = emitter ?? new BoundedEmitter(context);
    if (context.sync) {
      render(templates, context, output);
      return output.buffer;
    }
    context.tick(1 + templates.length);
    if (++context.run.nesting > limits.nesting) throw new LimitReached("partials are nested too deeply");
    const result: unknown = yield renderTemplates(templates, context, output);
    context.run.nesting--;
    return result;
  };
}

/** Equality that charges for each element of a list and for the length of a text. */
function* equal(left: unknown, right: unknown, ctx: Context): Generator<unknown, boolean, unknown> {
  const context = guarded(ctx);
  context.tick();
  if (typeof left === "string" && typeof right === "string") {
    context.charge(Math.min(left.length, right.length) >> 6);
    return left === right;
  }
  for (const [one, other] of [
    [left, right],
    [right, left],
  ])
    if (one instanceof Drop) context.tick((sizeOf(toValue(other)) ?? 0) >> stepShift);
  if (!Array.isArray(left) || !Array.isArray(right)) return Boolean(yield defaultOperators["=="]?.(left, right, ctx));
  if (left.length !== right.length) return false;
  for (const [index, item] of left.entries()) if (!(yield equal(item, right[index], ctx))) return false;
  return true;
}

function* contains(left: unknown, right: unknown, ctx: Context): Generator<unknown, boolean, unknown> {
  const context = guarded(ctx);
  context.tick();
  const [whole, part]: unknown[] = [toValue(left), toValue(right)];
  if (typeof whole === "string") {
    if (typeof part !== "string" && typeof part !== "number") return false;
    chargeSearch(context, whole, String(part));
    return whole.includes(String(part));
  }
  if (Array.isArray(whole)) for (const item of whole) if (yield equal(item, right, ctx)) return true;
  return false;
}

/**
 * Orders numbers, texts and dates only. LiquidJS would turn lists into text first, at any cost; and what is missing,
 * null, empty or a flag would count as zero.
 */
function ordering(operator: string): (left: unknown, right: unknown, ctx: Context) => unknown {
  return (left, right, ctx) => {
    const context = guarded(ctx);
    context.tick();
    if (isUnordered(left) || isUnordered(right)) return false;
    if (typeof left === "string" && typeof right === "string") context.charge(Math.min(left.length, right.length) >> 6);
    return defaultOperators[operator]?.(left, right, ctx);
  };
}

function isUnordered(given: unknown): boolean {
  const value: unknown = toValue(given);
  if (typeof value === "string") return value.trim() === "";
  return value === undefined || value === null || typeof value === "boolean" || Array.isArray(value);
}

const operators: Operators = {
  ...defaultOperators,
  "==": equal,
  "!=": function* (left: unknown, right: unknown, ctx: Context) {
    return !(yield equal(left, right, ctx));
  },
  ...Object.fromEntries([">", "<", ">=", "<="].map((operator) => [operator, ordering(operator)])),
  contains,
};

/** LiquidJS compares with its own equality, which charges nothing. */
class BoundedCase extends CaseTag {
  override *render(ctx: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const target: unknown = toValue(yield this.value.value(ctx));
    let isHit = false;
    for (const { values, templates } of this.branches) {
      for (const token of values) {
        if (!(yield equal(target, yield evalToken(token, ctx), ctx))) continue;
        yield this.liquid.renderer.renderTemplates(templates, ctx, emitter);
        isHit = true;
        break;
      }
    }
    if (!isHit) yield this.liquid.renderer.renderTemplates(this.elseTemplates, ctx, emitter);
  }
}

/** LiquidJS makes a list of an object's properties, and copies a list, however few elements the loop is limited to. */
function* payList({ collection }: ForTag | TablerowTag, ctx: Context): Generator<unknown, void, unknown> {
  // A range has been paid for, and is none of these.
  if (!TypeGuards.isPropertyAccessToken(collection)) return;
  const list: unknown = toValue(yield evalToken(collection, ctx));
  const size = typeof list === "string" ? 0 : (sizeOf(list) ?? 0);
  guarded(ctx).tick(Array.isArray(list) ? size >> stepShift : size);
}

class BoundedFor extends ForTag {
  override *render(ctx: Context, emitter: Emitter): Generator<unknown, void | string, Node[]> {
    yield* payList(this, ctx);
    return yield* super.render(ctx, emitter);
  }
}

class BoundedTablerow extends TablerowTag {
  override *render(ctx: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    yield* payList(this, ctx);
    yield* super.render(ctx, emitter);
  }
}

/** LiquidJS checks an inline comment with an expression that takes quadratic time in the number of its empty lines. */
class BoundedComment extends Tag {
  constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
    super(token, rest, liquid);
    const lines = token.args.split("\n").slice(1);
    if (lines.some((line) => line.trim() !== "" && !line.trim().startsWith("#"))) {
      throw new Error("every line of an inline comment must start with a '#' character");
    }
  }

  render(): void {}
}

/** LiquidJS's tags ask their engine for a partial without naming the rendering. */
function inRun<T extends Tag>(tag: T, context: Context): T {
  if (!(tag.liquid instanceof GuardedLiquid)) throw new TypeError("a tag belongs to another engine");
  const bound: T = Object.create(tag, { liquid: { value: tag.liquid.within(guarded(context).run) } });
  return bound;
}

class BoundRender extends RenderTag {
  override *render(ctx: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    yield* super.render.call(inRun(this, ctx), ctx, emitter);
  }
}

class BoundInclude extends IncludeTag {
  override *render(ctx: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    yield* super.render.call(inRun(this, ctx), ctx, emitter);
  }
}

class BoundLayout extends LayoutTag {
  override *render(ctx: Context, emitter: Emitter): Generator<unknown, unknown, unknown> {
    return yield* super.render.call(inRun(this, ctx), ctx, emitter);
  }
}

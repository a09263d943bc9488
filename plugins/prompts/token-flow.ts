/**
 * Follows the token through a template before the template is saved (behaviour B.5). A template may print `TOKEN`
 * unchanged, join it to other text, store it in a variable and test whether it is blank. Printing it inside an address
 * is refused. So is anything that changes it or takes it apart, because the result could no longer be recognised.
 *
 * Every variable is assumed to hold everything that is assigned to it anywhere, and every branch to be taken. This
 * refuses more than necessary if texts without blanks are put together from pieces. What it cannot know (a query
 * parameter, the result of a filter) is checked again in the rendered text.
 */
import {
  AssignTag,
  CaptureTag,
  CaseTag,
  CommentTag,
  CycleTag,
  EchoTag,
  ForTag,
  IfTag,
  InlineCommentTag,
  LiquidTag,
  Output,
  RawTag,
  TablerowTag,
  Tag,
  TypeGuards,
  UnlessTag,
  type Template as Node,
} from "liquidjs";
import { isInAddress, readOn, textStart, tokenMark, type TextState } from "./address.ts";
import { createExpressions, shortened, TokenMisuse, type Texts } from "./token-expression.ts";

export interface Misuse {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** The possible ends of the text, over all ways through the template. */
type Spots = readonly TextState[];

/** The first misuse of the token in a parsed template, or undefined. */
export function tokenMisuse(nodes: readonly Node[]): Misuse | undefined {
  const flow = createFlow();
  try {
    // Repeats until no variable and no loop changes. Longer chains are caught in the rendered text.
    for (let pass = 0; pass < maxPasses; pass++) {
      const known = flow.knowledge();
      flow.walk(nodes, [textStart]);
      if (flow.knowledge() === known) break;
    }
    return undefined;
  } catch (error) {
    if (!(error instanceof TokenMisuse)) throw error;
    const [line = 1, column = 1] = error.place?.getPosition() ?? [];
    return { line, column, message: error.message };
  }
}

const maxPasses = 4;
const maxSpots = 8;

function createFlow() {
  const expressions = createExpressions();
  const loopStarts = new Map<Node, Spots>();

  const print = (texts: Texts, spots: Spots, node: Node): Spots =>
    distinct(
      spots.flatMap((from) =>
        texts.map((text) => {
          const { spot, exposed } = readOn(from, text);
          if (exposed) throw new TokenMisuse("TOKEN must not stand inside an address", node.token);
          return spot;
        }),
      ),
    );

  const walk = (nodes: readonly Node[], spots: Spots): Spots =>
    nodes.reduce((before, node) => expressions.at(node.token, () => step(node, before)), spots);

  /** A missing branch changes nothing. */
  const branches = (bodies: readonly (readonly Node[] | undefined)[], spots: Spots): Spots =>
    distinct(bodies.flatMap((body) => (body ? walk(body, spots) : spots)));

  /** The body begins in the state before the loop, or in the state in which an earlier pass of the body ended. */
  const loop = (node: Node, body: readonly Node[], spots: Spots): Spots => {
    const begins = distinct([...spots, ...(loopStarts.get(node) ?? [])]);
    const ends = distinct([...begins, ...walk(body, begins)]);
    loopStarts.set(node, ends);
    return ends;
  };

  const step = (node: Node, spots: Spots): Spots => {
    if (TypeGuards.isHTMLToken(node.token)) return print([node.token.getContent()], spots, node);
    if (node instanceof Output) return print(expressions.texts(node.value), spots, node);
    if (node instanceof CommentTag || node instanceof InlineCommentTag) return spots;
    if (node instanceof RawTag) return print([rawText(node)], spots, node);
    if (node instanceof EchoTag || node instanceof CycleTag) return print(printedBy(node), spots, node);
    if (node instanceof AssignTag) {
      for (const name of node.localScope()) expressions.assign(name.content, printedBy(node));
      return spots;
    }
    if (node instanceof CaptureTag) {
      walk(node.templates, [textStart]);
      expressions.assign(node.variable, [capturedText(node.templates)]);
      return spots;
    }
    if (node instanceof IfTag || node instanceof UnlessTag) {
      for (const { value } of node.branches) expressions.texts(value);
      return branches([...node.branches.map(({ templates }) => templates), node.elseTemplates], spots);
    }
    return stepThroughOther(node, spots);
  };

  const stepThroughOther = (node: Node, spots: Spots): Spots => {
    if (node instanceof LiquidTag) return walk(node.templates, spots);
    for (const argument of node.arguments?.() ?? []) {
      if (expressions.texts(argument).some((text) => text.includes(tokenMark)))
        throw new TokenMisuse(`TOKEN cannot be used in {% ${tagName(node)} %}`, node.token);
    }
    if (node instanceof CaseTag) {
      // Every matching branch runs, one after the other.
      const bodies = [...node.branches.map(({ templates }) => templates), node.elseTemplates];
      return bodies.reduce((before, body) => branches([body, undefined], before), spots);
    }
    if (node instanceof ForTag || node instanceof TablerowTag) {
      const otherwise = node instanceof ForTag ? walk(node.elseTemplates, spots) : [];
      return distinct([...loop(node, node.templates, spots), ...otherwise]);
    }
    return distinct([...loop(node, childrenOf(node), spots), ...print(["x"], spots, node)]);
  };

  const printedBy = (node: EchoTag | CycleTag | AssignTag): Texts =>
    [...node.arguments()].flatMap((argument) => expressions.texts(argument));

  /** One text for everything that a body may print, with its branches one after the other. */
  const capturedText = (nodes: readonly Node[]): string => {
    return shortened(nodes.map((node) => expressions.at(node.token, () => printedText(node))).join(""));
  };

  const printedText = (node: Node): string => {
    if (TypeGuards.isHTMLToken(node.token)) return node.token.getContent();
    if (node instanceof RawTag) return rawText(node);
    if (node instanceof AssignTag || node instanceof CaptureTag) return "";
    if (node instanceof Output || node instanceof EchoTag || node instanceof CycleTag) {
      const texts = node instanceof Output ? expressions.texts(node.value) : printedBy(node);
      return texts.find((text) => text.includes(tokenMark)) ?? texts[0] ?? "";
    }
    return capturedText(childrenOf(node));
  };

  const knowledge = () => `${expressions.knowledge()} ${JSON.stringify([...loopStarts.values()])}`;
  return { walk, knowledge };
}

function distinct(spots: Spots): Spots {
  const byText = new Map(spots.map((spot) => [JSON.stringify(spot), spot]));
  if (byText.size <= maxSpots) return [...byText.values()];
  // If there are too many, keep those that matter: addresses first, above all those that no delimiter ends.
  const weight = (spot: TextState) =>
    Number(isInAddress(spot)) + Number(isInAddress({ ...spot, word: `${spot.word}|` }));
  return [...byText.values()].toSorted((a, b) => weight(b) - weight(a)).slice(0, maxSpots);
}

function childrenOf(node: Node): readonly Node[] {
  const children = node.children?.(false, true).next().value;
  return Array.isArray(children) ? children : [];
}

/** Its text is the part between the tags, which only its own rendering produces. */
function rawText(node: RawTag): string {
  const text: unknown = node.render();
  return typeof text === "string" ? text : "x";
}

function tagName(node: Node): string {
  return node instanceof Tag ? node.name : "tag";
}

/**
 * Follows the token through a template before it is saved (behaviour B.5): `TOKEN` may be printed as it is, joined to other
 * text, stored in a variable and asked whether it is blank; printed inside an address it is refused, and so is whatever
 * would change or take it apart, since nobody could tell what became of it then.
 *
 * Every variable is taken to hold all that is assigned to it anywhere, and every branch to be taken: so this refuses
 * more than it must where texts without blanks are put together from pieces, and what it cannot know (a query
 * parameter, the outcome of a filter) is looked at again in the rendered text.
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
import { isInAddress, readOn, textStart, tokenMark, type Spot } from "./address.ts";
import { createExpressions, shortened, TokenMisuse, type Texts } from "./token-expression.ts";

export interface Misuse {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Where the texts of all ways through the template may end. */
type Spots = readonly Spot[];

/** The first misuse of the token in a parsed template, or undefined. */
export function tokenMisuse(nodes: readonly Node[]): Misuse | undefined {
  const flow = createFlow();
  try {
    // Again, until no variable and no loop learns anything new; a chain longer than that is left to the rendered text.
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

  /** A branch that is not there lets everything pass as it was. */
  const branches = (bodies: readonly (readonly Node[] | undefined)[], spots: Spots): Spots =>
    distinct(bodies.flatMap((body) => (body ? walk(body, spots) : spots)));

  /** The body begins where the loop does, or where the body itself ended in an earlier pass. */
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
      // All that match are taken, one after the other.
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

  /** One text for all that a body may print, its branches one after the other. */
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
  // Of too many, those that matter: an address, and most of all one that a delimiter does not end.
  const weight = (spot: Spot) => Number(isInAddress(spot)) + Number(isInAddress({ ...spot, word: `${spot.word}|` }));
  return [...byText.values()].toSorted((a, b) => weight(b) - weight(a)).slice(0, maxSpots);
}

function childrenOf(node: Node): readonly Node[] {
  const children = node.children?.(false, true).next().value;
  return Array.isArray(children) ? children : [];
}

/** Its text is what stands between the tags, and only its own rendering gives it. */
function rawText(node: RawTag): string {
  const text: unknown = node.render();
  return typeof text === "string" ? text : "x";
}

function tagName(node: Node): string {
  return node instanceof Tag ? node.name : "tag";
}

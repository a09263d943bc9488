/**
 * Strings on which a regular expression may be slow: repetitions of what its parts match, and then what they do not
 * match.
 */
import { RegExpParser, visitRegExpAST, type AST } from "@eslint-community/regexpp";

export interface Attack {
  readonly before: string;
  readonly pump: string;
  readonly after: string;
}

export interface Expression {
  readonly source: string;
  readonly flags: string;
}

const parser = new RegExpParser({ ecmaVersion: 2025 });

/** General attacks for any expression: digits, spaces, quotes, brackets, tags, separators. */
const pumps =
  "a,A,1,0, ,\n,\r\n,\t,.,/,//,\\,\\\\,-,_,\",',`,=,==,:,;,@,#,$,%,&,!,*,+,~,|,^,(,),[,],{,},{{,}},{%,<,>,<a ,é,a.,a-,1.,1:,1_,a ,\"\",'',/*,--,[[,a/,%2,e1"
    .split(",")
    .concat(",");
const ends = ["\0", "x", "1", "\n"];

export const generalAttacks: readonly Attack[] = pumps.flatMap((pump) =>
  ends.map((after, at) => ({ before: at % 2 === 0 ? "" : "x", pump, after })),
);

export function textOf({ before, pump, after }: Attack, length: number): string {
  return before + pump.repeat(Math.ceil(length / pump.length)) + after;
}

/** Whether it repeats anything without a limit, or with one too high to help. */
export function hasQuantifier({ source, flags }: Expression): boolean {
  return quantifiers(parsed({ source, flags })).length > 0;
}

/** Attacks on one expression: text that matches up to each quantifier, and then what the quantifier repeats. */
export function attacksOn(expression: Expression): Attack[] {
  const pattern = parsed(expression);
  const sample = sampler(expression.flags);
  return quantifiers(pattern).flatMap((quantifier) => {
    const before = sample.before(quantifier);
    const units = sample.all(quantifier.element);
    const after = sample.after(quantifier);
    // Also with what follows it: a part that is searched for again at each place.
    const repeated = [...units, ...units.map((unit) => unit + after), before + (units[0] ?? "") + after, before];
    return repeated
      .filter((pump) => pump !== "")
      .flatMap((pump) => ["\0", "\n", "x"].flatMap((end) => ["", before].map((start) => attack(start, pump, end))));
  });
}

function attack(before: string, pump: string, after: string): Attack {
  return { before, pump, after };
}

function parsed({ source, flags }: Expression): AST.Pattern {
  return parser.parsePattern(source, 0, source.length, { unicode: flags.includes("u"), unicodeSets: false });
}

function quantifiers(pattern: AST.Pattern): AST.Quantifier[] {
  const found: AST.Quantifier[] = [];
  visitRegExpAST(pattern, {
    onQuantifierEnter: (node) => {
      if (node.max > 16) found.push(node);
    },
  });
  return found;
}

/** Characters to try for a class, the common ones first. */
const characters = Array.from("a1 -_.A/:\"'=\n\\éx2z9,;@{}[]()<>|+*%#&$!?~`^\t\r\0\uE000😀");

function sampler(flags: string) {
  const matches = (raw: string) => {
    const one = new RegExp(`^(?:${raw})$`, flags.replaceAll(/[gy]/g, ""));
    return characters.filter((character) => one.test(character));
  };
  /** Texts that the node matches; the first is the plainest. */
  const all = (node: AST.Node): string[] => {
    if (node.type === "Character") return [String.fromCodePoint(node.value)];
    if (node.type === "CharacterSet" || node.type === "CharacterClass") return matches(node.raw).slice(0, 4);
    if (node.type === "Group" || node.type === "CapturingGroup" || node.type === "Pattern")
      return node.alternatives.flatMap((one) => all(one).slice(0, 2)).slice(0, 6);
    if (node.type === "Alternative") return [node.elements.map((one) => all(one)[0] ?? "").join("")];
    if (node.type === "Quantifier") return [(all(node.element)[0] ?? "").repeat(Math.max(1, Math.min(node.min, 300)))];
    return [""];
  };
  const beside = (node: AST.Node, side: (at: number, elements: readonly AST.Element[]) => AST.Element[]): string[] => {
    const up = node.parent;
    if (!up) return [];
    const here =
      up.type === "Alternative"
        ? side(
            up.elements.findIndex((one) => one === node),
            up.elements,
          ).map((one) => all(one)[0] ?? "")
        : [];
    return [here.join(""), ...beside(up, side)];
  };
  return {
    all,
    before: (node: AST.Node) =>
      beside(node, (at, elements) => elements.slice(0, at))
        .toReversed()
        .join(""),
    after: (node: AST.Node) => beside(node, (at, elements) => elements.slice(at + 1)).join(""),
  };
}

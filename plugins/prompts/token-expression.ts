/** The texts that a template's expressions may print, as far as is known without running it. */
import { TypeGuards, Value, type Filter, type PropertyAccessToken, type Token, type ValueToken } from "liquidjs";
import { ownUrlMark, tokenMark } from "./address.ts";

/** Some of the texts that an expression may print. The token is a mark in them, and unknown text an `x`. */
export type Texts = readonly string[];

/** The template uses the token in a way that is not allowed. */
export class TokenMisuse extends Error {
  place: Token | undefined;

  constructor(message: string, place?: Token) {
    super(message);
    this.place = place;
  }
}

const maxTexts = 8;
const longestText = 4000;
const known: readonly (readonly [string, string])[] = [
  ["TOKEN", tokenMark],
  ["api_token", tokenMark],
  ["ACCOUNT_URL", ownUrlMark],
  ["account_url", ownUrlMark],
  ["base_url", ownUrlMark],
];
const apiBlock = `Host: ${ownUrlMark}\nAuthorization: Bearer ${tokenMark}`;

/** Reads the expressions of one template; it remembers what variables hold. Its functions throw TokenMisuse. */
export function createExpressions() {
  const variables = new Map<string, Texts>(known.map(([name, text]) => [name, [text]]));

  const texts = (argument: Value | ValueToken): Texts =>
    argument instanceof Value ? filtered(argument.initial.postfix, argument.filters) : ofToken(argument);

  const ofToken = (token: Token): Texts => {
    if (TypeGuards.isQuotedToken(token)) return [token.content];
    if (TypeGuards.isPropertyAccessToken(token)) return ofVariable(token);
    if (TypeGuards.isFilteredValueToken(token)) return filtered(token.initial.postfix, token.filters);
    if (TypeGuards.isRangeToken(token)) return untouched([token.lhs, token.rhs], "be counted with");
    return TypeGuards.isNumberToken(token) ? [token.getText()] : [""];
  };

  const ofVariable = ({ variable, props }: PropertyAccessToken): Texts => {
    const [root, ...parts] = variable ? [variable, ...props] : props;
    const computed = parts.filter((part) => !TypeGuards.isWordToken(part));
    untouched(computed, "name a part");
    const name = variable || !root ? undefined : nameOf(root);
    const held = variable ? ofToken(variable) : name === undefined ? [tokenMark] : (variables.get(name) ?? ["x"]);
    if (parts.length === 0) return held;
    if (held.some(isToken)) throw new TokenMisuse("TOKEN cannot be taken apart");
    return ["x"];
  };

  /** Throws if one of these may be the token. */
  const untouched = (tokens: readonly Token[], use: string): Texts => {
    if (tokens.some((token) => !TypeGuards.isWordToken(token) && ofToken(token).some(isToken)))
      throw new TokenMisuse(`TOKEN cannot ${use}`);
    return ["x"];
  };

  const filtered = (postfix: readonly Token[], filters: readonly Pick<Filter, "name" | "args">[]): Texts =>
    filters.reduce((input, { name, args }) => {
      const given = args.map((arg) => (Array.isArray(arg) ? arg[1] : arg));
      return applied(
        name,
        input,
        given.map((arg) => (arg ? ofToken(arg) : [""])),
      );
    }, ofExpression(postfix));

  const ofExpression = (postfix: readonly Token[]): Texts => {
    const [only] = postfix;
    if (only && postfix.length === 1) return ofToken(only);
    if (!postfix.some((token) => TypeGuards.isOperatorToken(token))) return untouched(postfix, "be counted with");
    checkComparisons(postfix);
    return ["x"];
  };

  /** A template may test whether the token is blank. Any other comparison would reveal part of it. */
  const checkComparisons = (postfix: readonly Token[]): void => {
    const stack: ("token" | "blank" | "other")[] = [];
    for (const token of postfix) {
      if (!TypeGuards.isOperatorToken(token)) {
        stack.push(isBlank(token) ? "blank" : ofToken(token).some(isToken) ? "token" : "other");
        continue;
      }
      const operands = [stack.pop(), token.operator === "not" ? undefined : stack.pop()];
      const isLogic = ["and", "or", "not"].includes(token.operator);
      const asksForBlank = ["==", "!="].includes(token.operator) && operands.includes("blank");
      if (operands.includes("token") && !isLogic && !asksForBlank)
        throw new TokenMisuse("TOKEN can only be compared with blank");
      stack.push("other");
    }
  };

  return {
    texts,
    assign: (name: string, values: Texts) => {
      variables.set(name, few([...(variables.get(name) ?? []), ...values]));
    },
    /** Runs `run`; a misuse found in it that has no place gets this one. */
    at: <T>(place: Token, run: () => T): T => {
      try {
        return run();
      } catch (error) {
        if (error instanceof TokenMisuse) error.place ??= place;
        throw error;
      }
    },
    knowledge: () => JSON.stringify([...variables]),
  };
}

/** The name of a variable; undefined if it is computed and so may be any. */
function nameOf(token: Token): string | undefined {
  if (TypeGuards.isWordToken(token) || TypeGuards.isQuotedToken(token)) return token.content;
  return TypeGuards.isNumberToken(token) ? token.getText() : undefined;
}

function isToken(text: string): boolean {
  return text.includes(tokenMark);
}

function isBlank(token: Token): boolean {
  return TypeGuards.isLiteralToken(token) || (TypeGuards.isQuotedToken(token) && token.content === "");
}

const harmless = new Set(["strip", "lstrip", "rstrip", "strip_newlines", "escape", "raw"]);

function applied(name: string, input: Texts, args: readonly Texts[]): Texts {
  const [argument = [""]] = args;
  if (name === "append") return joined(input, argument);
  if (name === "prepend") return joined(argument, input);
  if (name === "default") return few([...input, ...argument]);
  if (harmless.has(name)) return input;
  if ([input, ...args].some((texts) => texts.some(isToken)))
    throw new TokenMisuse(`TOKEN cannot go through the filter \`${name}\``);
  if (name === "api_block") return [apiBlock];
  if (name === "prompt_url") return [`${ownUrlMark}/core/prompt/x.md`];
  // After a filter the own URL is still an address, and perhaps another host's.
  return input.map((text) => text.replaceAll(ownUrlMark, "https://a"));
}

function joined(heads: Texts, tails: Texts): Texts {
  return few(heads.flatMap((head) => tails.map((tail) => head + tail)));
}

/** As many as can be followed; texts with the token, or with something like an address, come first. */
function few(texts: Texts): Texts {
  const weight = (text: string) => (isToken(text) ? 2 : 0) + (/[/\uE001]/.test(text) ? 1 : 0);
  const short = new Set(texts.map(shortened));
  return short.size <= maxTexts ? [...short] : [...short].toSorted((a, b) => weight(b) - weight(a)).slice(0, maxTexts);
}

/** Both ends of a long text. The token in it is never lost. */
export function shortened(text: string): string {
  if (text.length <= longestText) return text;
  const middle = isToken(text) ? ` ${tokenMark} ` : "";
  return `${text.slice(0, longestText / 2)}${middle}${text.slice(-longestText / 2)}`;
}

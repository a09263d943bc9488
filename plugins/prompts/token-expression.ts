/** What the expressions of a template may print, as far as can be told without running it. */
import { TypeGuards, Value, type FilterArg, type Token } from "liquidjs";
import { tokenMark } from "./address.ts";

/** Some of the texts that an expression may print; the token in them is a mark, and what is unknown an `x`. */
export type Texts = readonly string[];

export class TokenMisuse extends Error {
  place: Token | undefined;

  constructor(message: string, place?: Token) {
    super(message);
    this.place = place;
  }
}

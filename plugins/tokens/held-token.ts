/** Finds real tokens in texts that other people will see. Pure. */
import { isWellFormed } from "./raw-token.ts";

/** A shorter token (`CORE_ADMIN_TOKEN=test`) may be an ordinary word. */
const shortestSecret = 16;

/** Whether a text contains a token of our form, or the token of this request, which may have another form. */
export function holdsToken(text: string, carried = ""): boolean {
  if (carried.length >= shortestSecret && text.includes(carried)) return true;
  return [...text.matchAll(/core_[0-9A-Za-z]{42}/g)].some(([token]) => isWellFormed(token));
}

/** Real tokens in texts that other people will see. Pure. */
import { isWellFormed } from "./raw-token.ts";

/** A shorter one (`CORE_ADMIN_TOKEN=test`) may well be a word. */
const shortestSecret = 16;

/** Whether a text holds a token that we can have made, or the very one of this request, which may have been given from outside. */
export function holdsToken(text: string, carried = ""): boolean {
  if (carried.length >= shortestSecret && text.includes(carried)) return true;
  return [...text.matchAll(/core_[0-9A-Za-z]{42}/g)].some(([token]) => isWellFormed(token));
}

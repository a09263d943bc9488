/** New passwords: hashed once they meet what the account requires. */
import { hashPassword, invalid } from "platform";
import type { PeopleContext } from "./context.ts";
import { passwordSettings } from "./rules.ts";

/** Throws the 422 if the account requires more of it. */
export async function hashed(ctx: PeopleContext, accountId: number, password: string): Promise<string> {
  const { minLength, breachedUrl } = await ctx.settings.of(accountId, passwordSettings);
  if (password.length < minLength) throw invalid({ password: [`must have at least ${minLength} characters`] });
  if (breachedUrl !== "" && (await isBreached(ctx, breachedUrl, password)))
    throw invalid({ password: ["is in a list of stolen passwords: choose another one"] });
  return hashPassword(password);
}

/** Only the first 5 of 40 digits of the hash are sent; the answer has the rest of all that begin so. */
async function isBreached(ctx: PeopleContext, url: string, password: string): Promise<boolean> {
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(password));
  const hash = new Uint8Array(digest).toHex().toUpperCase();
  try {
    const headers = { "add-padding": "true" };
    const answer = await ctx.fetch(`${url}${hash.slice(0, 5)}`, { headers, timeoutMs: 3000, maxBytes: 500_000 });
    if (answer.status !== 200) throw new Error(`status ${answer.status}`);
    // Lines of padding count 0.
    return answer
      .text()
      .split("\n")
      .some((line) => line.startsWith(`${hash.slice(5)}:`) && !/:0+\s*$/.test(line));
  } catch (error) {
    // A list that does not answer must not keep people from new passwords.
    ctx.log.warn("the list of breached passwords does not answer: a new password was not checked", { error });
    return false;
  }
}

/** Who changes what one signs in with must have signed in just now: an open session that somebody finds is not enough. */
import { forbidden, type Caller } from "platform";
import type { Tokens } from "../../tokens/api.ts";
import type { Owner } from "./api.ts";

export const stale = "sign in again: this needs a sign-in of the last ten minutes";
export const needsFresh = "Needs a session that began within the last ten minutes (403); an API token is none.";

export async function freshOwner(tokens: Pick<Tokens, "isFresh">, caller: Caller): Promise<Owner> {
  if (!(await tokens.isFresh(caller))) throw forbidden(stale);
  return ownerOf(caller);
}

export function ownerOf({ account, user }: Caller): Owner {
  return { accountId: account.id, userId: user.id };
}

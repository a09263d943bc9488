/** Decides who must have a second factor, and when people may change theirs. */
import { forbidden, invalid, setting, type Caller } from "platform";
import type { Owner } from "./api.ts";
import type { FactorsContext } from "./context.ts";

/** Only administrators change it. */
export const factorSettings = {
  requiredFor: setting.adminOnly(
    setting.oneOf(
      "second_factor",
      "optional",
      "Who must have a second factor, and sets one up at the next sign-in: optional (nobody), admins or everybody",
      ["optional", "admins", "everybody"],
    ),
  ),
};

export const stale = "sign in again: this needs a sign-in of the last ten minutes";
export const needsFresh = "Needs a session that began within the last ten minutes (403); an API token is none.";

/** A change of second factors takes a recent sign-in: an open session that somebody finds is not enough. */
export async function freshOwner({ tokens }: FactorsContext, caller: Caller): Promise<Owner> {
  if (!(await tokens.isFresh(caller))) throw forbidden(stale);
  return ownerOf(caller);
}

export function ownerOf({ account, user }: Caller): Owner {
  return { accountId: account.id, userId: user.id };
}

export async function isRequired({ accounts }: FactorsContext, { accountId, userId }: Owner): Promise<boolean> {
  const { requiredFor } = await accounts.settingsOf(accountId, factorSettings);
  if (requiredFor !== "admins") return requiredFor === "everybody";
  return (await accounts.access(userId))?.user.role === "admin";
}

/** Throws the 422 if the person must have a factor, and none of `others` would be left. */
export async function mayLose(ctx: FactorsContext, owner: Owner, others: number): Promise<void> {
  if (others === 0 && (await isRequired(ctx, owner))) throw invalid({ base: [lastOne] });
}

const lastOne = "this account requires a second factor: set up another one first";

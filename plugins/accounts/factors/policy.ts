/** Who must have a second factor. */
import { invalid } from "platform";
import type { Accounts } from "../api.ts";
import type { Owner } from "./api.ts";
import { factorSettings } from "./settings.ts";

export function createPolicy({ accounts }: { readonly accounts: Pick<Accounts, "access" | "settingsOf"> }) {
  const isRequired = async ({ accountId, userId }: Owner): Promise<boolean> => {
    const { requiredFor } = await accounts.settingsOf(accountId, factorSettings);
    if (requiredFor !== "admins") return requiredFor === "everybody";
    return (await accounts.access(userId))?.user.role === "admin";
  };

  return {
    isRequired,

    /** Throws the 422 if the person must have a factor, and none of `others` would be left. */
    async mayLose(owner: Owner, others: number): Promise<void> {
      if (others === 0 && (await isRequired(owner))) throw invalid({ base: [lastOne] });
    },
  };
}

const lastOne = "this account requires a second factor: set up another one first";

export type Policy = ReturnType<typeof createPolicy>;

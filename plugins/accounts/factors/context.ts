/** The context of the functions about second factors. */
import type { BaseContext } from "platform";
import type { Tokens } from "../../tokens/api.ts";
import type { Accounts } from "../api.ts";

export interface FactorsContext extends BaseContext {
  readonly accounts: Accounts;
  readonly tokens: Pick<Tokens, "endSessionsOf" | "isFresh">;
}

/** What other plugins may import: references and types, no behaviour. */
import { service } from "platform";

export interface Items {
  /** How many items an account has. */
  count(accountId: number): Promise<number>;
}

export const items = service<Items>("sample-plugin.items");

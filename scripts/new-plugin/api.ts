/** What other plugins may import from here: references and types, no behaviour. */
import { event } from "platform";

export interface ItemSaved {
  readonly accountId: number;
  readonly id: string;
  readonly version: number;
  readonly text: string;
}

/** An item was made or changed. */
export const itemSaved = event<ItemSaved>("sample-plugin.item.saved");

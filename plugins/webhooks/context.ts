/** What the parts of this plugin share. */
import type { Cache, ContextOf, BaseContext, TurnsByKey } from "platform";
import type { Connectors } from "../connectors/api.ts";
import type { Flows } from "../flows/api.ts";
import type { NewDelivery } from "./sending/queue-store.ts";
import type { Subscriptions } from "./subscriptions/subscriptions.ts";
import type { WebhookAt } from "./subscriptions/webhook.ts";

export interface Webhooks extends BaseContext, ContextOf<WebhookAt> {
  readonly subscriptions: Subscriptions;
  readonly write: (rows: readonly NewDelivery[]) => Promise<boolean>;
  readonly targets: Pick<Connectors, "callForEvent"> & Pick<Flows, "startFlow" | "wake">;
  /** By account: whether a step of a flow waits for an event. */
  readonly flowWaits: Cache<boolean>;
  /** How long a receiver may take. */
  readonly timeoutMs: number;
  /** Seconds between the attempts of a delivery. */
  readonly waits: readonly number[];
  /** Failures of one webhook that end together are noted one after another. */
  readonly noting: TurnsByKey<number>;
}

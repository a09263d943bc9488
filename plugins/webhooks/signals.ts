/** What the parts of this plugin tell each other, within a process and between processes. */
import { job } from "platform";

/** A webhook, and the account that it belongs to. */
export interface WebhookRef {
  readonly accountId: number;
  readonly webhookId: number;
}

/** Says in every process that a webhook has something to send. */
export const dueTopic = "webhooks.due";
/** The same, because a person has asked for it. */
export const urgedTopic = "webhooks.urged";

/** Clears the queue of a webhook that is off or gone. */
export const clearQueue = job<WebhookRef>("webhooks.clear-queue");

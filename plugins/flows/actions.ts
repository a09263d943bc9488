/** What other plugins ask of flows: starting them, for webhooks, crons and the actions of apps. */
import { putAt } from "platform";
import type { Flows } from "./api.ts";
import type { FlowStore } from "./flow-store.ts";
import type { Managing } from "./manage.ts";
import type { Processes } from "./processes.ts";
import type { ProcessStore } from "./process-store.ts";
import { toAction } from "./show.ts";
import type { RegisteredSteps } from "./step-types.ts";
import type { Waiting } from "./waiting.ts";

interface Needed {
  readonly store: FlowStore;
  readonly managing: Managing;
  readonly processes: Processes;
  readonly processStore: ProcessStore;
  readonly waiting: Waiting;
  readonly registerStep: RegisteredSteps["register"];
}

const actionWaitMs = 1000;
const mostWaitSeconds = 25;

export function createActions({ store, managing, processes, processStore, waiting, registerStep }: Needed): Flows {
  return {
    registerStep,
    async putFlow({ accountId, userId }, flow) {
      const author = { account: { id: accountId }, user: { id: userId }, privileges: null };
      return putAt(flow, await store.byCode(accountId, flow.code), {
        create: () => managing.create(author, flow),
        update: (id) => managing.update(author, id, flow),
      });
    },
    flowExists: managing.exists,
    startFlow: async (flow) => (await processes.start(flow))?.process.id,

    async runAction({ accountId, flowCode, input, scope, origin, waitMs = actionWaitMs, onPending }) {
      const started = await processes.start({ accountId, code: flowCode, input, scope, origin });
      if (!started) return undefined;
      const { process } = started;
      if (process.status !== "pending") return toAction(process);
      await onPending?.(toAction(process));
      return toAction((await waiting.wait({ accountId, id: process.id, ms: waitMs, fresh: true })) ?? process);
    },

    originOf: ({ accountId, processId }) => processStore.origin(accountId, processId),

    async actionStatus({ accountId, flowCode, processId, waitSeconds = 0, signal }) {
      const ms = Math.min(Math.max(waitSeconds, 0), mostWaitSeconds) * 1000;
      const row = await waiting.wait({ accountId, id: processId, ms, signal });
      return row?.flowCode === flowCode ? toAction(row) : undefined;
    },
  };
}

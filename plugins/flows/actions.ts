/** The service `flows`: starts flows for webhooks, crons and the actions of apps. */
import { putAt } from "platform";
import type { Flows } from "./api.ts";
import type { FlowStore } from "./manage/flow-store.ts";
import type { FlowWriter } from "./manage/flow-writer.ts";
import type { Processes } from "./processes/processes.ts";
import type { ProcessViewStore } from "./processes/process-view-store.ts";
import { toAction } from "./processes/show.ts";
import type { RegisteredSteps } from "./program/step-types.ts";
import type { Waiting } from "./processes/waiting.ts";

interface Needed {
  readonly flowStore: Pick<FlowStore, "byCode">;
  readonly flowWriter: FlowWriter;
  readonly processes: Processes;
  readonly processViewStore: Pick<ProcessViewStore, "origin">;
  readonly waiting: Waiting;
  readonly registerStep: RegisteredSteps["register"];
}

const actionWaitMs = 1000;
const mostWaitSeconds = 25;

export function createActions(needed: Needed): Flows {
  const { flowStore, flowWriter, processes, processViewStore, waiting, registerStep } = needed;
  return {
    registerStep,
    async putFlow({ accountId, userId }, flow) {
      const author = { account: { id: accountId }, user: { id: userId }, privileges: null };
      return putAt(flow, await flowStore.byCode(accountId, flow.code), {
        create: () => flowWriter.create(author, flow),
        update: (id) => flowWriter.update(author, id, flow),
      });
    },
    flowExists: async (tx, accountId, code) => (await flowStore.byCode(accountId, code, tx)) !== undefined,
    startFlow: async (flow) => (await processes.start(flow))?.process.id,

    async runAction({ accountId, flowCode, input, scope, origin, by, waitMs = actionWaitMs, onPending }) {
      const started = await processes.start({ accountId, code: flowCode, input, scope, origin, by });
      if (!started) return undefined;
      const { process } = started;
      if (process.status !== "pending") return toAction(process);
      await onPending?.(toAction(process));
      return toAction((await waiting.wait({ accountId, id: process.id, ms: waitMs, fresh: true })) ?? process);
    },

    originOf: ({ accountId, processId }) => processViewStore.origin(accountId, processId),

    async actionStatus({ accountId, flowCode, processId, waitSeconds = 0, signal }) {
      const ms = Math.min(Math.max(waitSeconds, 0), mostWaitSeconds) * 1000;
      const row = await waiting.wait({ accountId, id: processId, ms, signal });
      return row?.flowCode === flowCode ? toAction(row) : undefined;
    },
  };
}

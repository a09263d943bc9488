/** The service `flows`: starts flows for webhooks, crons and the actions of apps. */
import { putAt } from "platform";
import type { Flows } from "./api.ts";
import type { FlowContext } from "./context.ts";
import type { FlowWriter } from "./manage/flow-writer.ts";
import { toAction } from "./processes/show.ts";
import { startProcess } from "./processes/start.ts";
import { originOf } from "./processes/view-store.ts";

const actionWaitMs = 1000;
const mostWaitSeconds = 25;

export function flowService(
  ctx: FlowContext,
  { flowWriter, registerStep }: Pick<Flows, "registerStep"> & { readonly flowWriter: FlowWriter },
): Flows {
  const { flowStore, waiting } = ctx;
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
    startFlow: async (flow) => (await startProcess(ctx, flow))?.process.id,

    async runAction({ accountId, flowCode, input, scope, origin, by, waitMs = actionWaitMs, onPending }) {
      const started = await startProcess(ctx, { accountId, code: flowCode, input, scope, origin, by });
      if (!started) return undefined;
      const { process } = started;
      if (process.status !== "pending") return toAction(process);
      await onPending?.(toAction(process));
      return toAction((await waiting.wait({ accountId, id: process.id, ms: waitMs, fresh: true })) ?? process);
    },

    originOf: ({ accountId, processId }) => originOf(ctx.sql, accountId, processId),

    async actionStatus({ accountId, flowCode, processId, waitSeconds = 0, signal }) {
      const ms = Math.min(Math.max(waitSeconds, 0), mostWaitSeconds) * 1000;
      const row = await waiting.wait({ accountId, id: processId, ms, signal });
      return row?.flowCode === flowCode ? toAction(row) : undefined;
    },
  };
}

/** The service `flows`: starts flows for webhooks, crons and the actions of apps. */
import { change, create, find, putAt, type Queryable } from "platform";
import type { Flows } from "./api.ts";
import type { FlowContext } from "./context.ts";
import { Flow } from "./manage/flow.ts";
import { driveProcess, shareOf } from "./processes/signals.ts";
import { toAction } from "./processes/show.ts";
import { startProcess } from "./processes/start.ts";
import { failing, originOf } from "./processes/view-store.ts";

const actionWaitMs = 1000;
const mostWaitSeconds = 25;

export function flowService(ctx: FlowContext, registers: Pick<Flows, "registerStep" | "registerTriggers">): Flows {
  const { waiting } = ctx;
  const findFlow = (accountId: number, code: string, on: Queryable = ctx.sql) => find(Flow, on, accountId, { code });
  return {
    ...registers,
    async putFlow({ accountId, userId }, flow) {
      const at = { ...ctx, caller: { account: { id: accountId }, user: { id: userId }, privileges: null } };
      return putAt(flow, await findFlow(accountId, flow.code), {
        create: () => create(Flow, at, flow),
        update: (id) => change(Flow, at, { id }, flow),
      });
    },
    wake: (tx, process) => ctx.enqueue(driveProcess, process, { tx, ...shareOf(process) }),
    flowName: async (tx, accountId, code) => (await findFlow(accountId, code, tx))?.name,
    failing: (accountId, code) => failing(ctx.sql, accountId, code),
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

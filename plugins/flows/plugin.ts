import { definePlugin, setting } from "platform";
import { accounts } from "../accounts/api.ts";
import { connectors } from "../connectors/api.ts";
import { createActions } from "./actions.ts";
import { flows } from "./api.ts";
import { jsonDatabases } from "../jsondb/api.ts";
import { flowRoutes } from "./flow-routes.ts";
import { createFlowStore } from "./flow-store.ts";
import { createManaging } from "./manage.ts";
import migration from "./migrations/001_flows.sql" with { type: "text" };
import origins from "./migrations/002_origin.sql" with { type: "text" };
import instructions from "./prompts/flows_api.md" with { type: "text" };
import { processExample, processRoutes } from "./process-routes.ts";
import { createProcessStore } from "./process-store.ts";
import { processModel } from "./needed.ts";
import { createProcesses } from "./processes.ts";
import { createRecords } from "./records.ts";
import { stepRoutes } from "./step-routes.ts";
import { createStepTypes } from "./step-types.ts";
import { createTemplates } from "./template.ts";
import { createWaiting } from "./waiting.ts";

const { steps: _, ...sample } = processExample;

/** Flows and their processes. behaviour 4.3, B.9. */
export default definePlugin({
  name: "flows",
  needs: { accounts, connectors, databases: jsonDatabases },
  provides: flows,
  config: {
    historyDays: setting.integer("FLOW_HISTORY_DAYS", 30, "Days for which ended flow processes can be looked up", {
      min: 1,
      max: 3650,
    }),
    leaseSeconds: setting.integer(
      "FLOW_LEASE_SECONDS",
      15,
      "Seconds until another server takes over what a dead one ran",
      {
        min: 1,
        max: 600,
      },
    ),
  },
  migrations: [
    { name: "001_flows", sql: migration },
    { name: "002_origin", sql: origins },
  ],
  prompts: { "flows_api.md": instructions },
  privileges: [{ name: "flows", doc: "connectors, flows and their processes", roles: ["manager"] }],
  models: [{ name: processModel, privilege: "flows", kinds: ["finished", "error"], sample }],

  setup(ctx) {
    const { accounts: people, connectors: calling } = ctx.services;
    const flowStore = createFlowStore(ctx.sql);
    const store = createProcessStore(ctx.sql);
    const templates = createTemplates(ctx.liquid);
    const { types: stepTypes, register: registerStep } = createStepTypes();
    const managing = createManaging({
      ctx,
      store: flowStore,
      connectors: calling,
      databases: ctx.services.databases,
      templates,
      stepTypes,
    });
    const waiting = createWaiting(ctx, store);
    const processes = createProcesses({
      ctx,
      store,
      flowStore,
      waiting,
      templates,
      accounts: people,
      connectors: calling,
      flowOf: managing.current,
      records: createRecords(ctx.services.databases),
      stepTypes,
      leaseSeconds: ctx.config.leaseSeconds,
    });
    const prune = async () => {
      while ((await store.prune(ctx.config.historyDays, 1000)) === 1000 && !ctx.stopping.aborted);
    };
    return {
      routes: [
        ...flowRoutes({ store: flowStore, managing, processes, waiting, templates, stepTypes }),
        ...processRoutes(store, processes),
        ...stepRoutes(stepTypes),
      ],
      handlers: processes.handlers,
      schedules: [
        { id: "flows.prune", cron: "41 * * * *", run: prune },
        { id: "flows.sweep", cron: "*/5 * * * *", run: processes.sweep },
      ],
      service: createActions({
        store: flowStore,
        managing,
        processes,
        processStore: store,
        waiting,
        registerStep,
      }),
    };
  },
});

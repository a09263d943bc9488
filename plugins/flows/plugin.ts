import { batched, definePlugin, setting } from "platform";
import { accounts } from "../accounts/api.ts";
import { connectors } from "../connectors/api.ts";
import { flowService } from "./actions.ts";
import { jsonDatabases } from "../jsondb/api.ts";
import { flows } from "./api.ts";
import type { FlowContext } from "./context.ts";
import { Flow } from "./manage/flow.ts";
import { createFlowLookup } from "./manage/lookup.ts";
import { flowRoutes } from "./manage/routes.ts";
import { flowUses } from "./program/takes.ts";
import migration from "./migrations/001_flows.sql" with { type: "text" };
import origins from "./migrations/002_origin.sql" with { type: "text" };
import versions from "./migrations/003_version.sql" with { type: "text" };
import programVersions from "./migrations/005_versions.sql" with { type: "text" };
import programAuthors from "./migrations/007_program_authors.sql" with { type: "text" };
import starters from "./migrations/004_starter.sql" with { type: "text" };
import byRecord from "./migrations/005_records.sql" with { type: "text" };
import accountKeys from "./migrations/006_account_keys.sql" with { type: "text" };
import look from "./migrations/008_look.sql" with { type: "text" };
import alarm from "./migrations/009_alarm.sql" with { type: "text" };
import instructions from "./prompts/flows_api.md" with { type: "text" };
import { drivers } from "./processes/drive.ts";
import { sweepProcesses } from "./processes/ends.ts";
import { processExample, processRoutes } from "./processes/routes.ts";
import { runRoutes, stepRoutes } from "./processes/run-routes.ts";
import { processModel } from "./processes/signals.ts";
import * as processStore from "./processes/store.ts";
import { createWaiting } from "./processes/watch.ts";
import { registerStep, type OwnStepType } from "./program/step-types.ts";
import { mail } from "../mail/api.ts";
import { flowMail, mailStep } from "./mail-step.ts";
import type { TriggerSource } from "./triggers/source.ts";
import { scriptStep } from "./script/step.ts";
import { createTemplates } from "./program/template.ts";

const { steps: _, ...sample } = processExample;

/** Flows and their processes. behaviour 4.3, B.9. */
export default definePlugin({
  name: "flows",
  needs: { accounts, connectors, databases: jsonDatabases, mail },
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
    { name: "003_version", sql: versions },
    { name: "004_starter", sql: starters },
    { name: "005_records", sql: byRecord },
    { name: "005_versions", sql: programVersions },
    { name: "006_account_keys", sql: accountKeys },
    { name: "007_program_authors", sql: programAuthors },
    { name: "008_look", sql: look },
    { name: "009_alarm", sql: alarm },
  ],
  prompts: { "flows_api.md": instructions },
  children: { script: () => import("./script/child.ts") },
  privileges: [{ name: "flows", doc: "connectors, flows and their processes", roles: ["manager"] }],
  models: [{ name: processModel, privilege: "flows", kinds: ["finished", "error"], sample }],
  resources: [Flow],
  activity: {
    flow_programs: false,
    flow_processes: false,
    flow_process_steps: false,
  },

  setup(base) {
    const { accounts: people, connectors: calls, databases } = base.services;
    const { leaseSeconds, historyDays } = base.config;
    const flowLookup = createFlowLookup(base);
    const stepTypes = new Map<string, OwnStepType>();
    const triggerSources: TriggerSource[] = [];
    base.services.mail.registerTemplate(flowMail);
    registerStep(stepTypes, mailStep({ ...base, mail: base.services.mail }));
    const scripts = scriptStep(base);
    registerStep(stepTypes, scripts.step);
    const ctx: FlowContext = {
      ...base,
      accounts: people,
      connectors: calls,
      databases,
      flowLookup,
      stepTypes,
      triggerSources,
      templates: createTemplates(base.liquid),
      waiting: createWaiting(base),
      insertTogether: batched(
        async (rows: readonly processStore.NewProcess[]) => {
          await processStore.insert(base.sql, rows);
          return rows;
        },
        { most: 100, alone: true },
      ),
    };
    const prune = async () => {
      while ((await processStore.prune(ctx.sql, historyDays, 1000)) === 1000 && !ctx.stopping.aborted);
    };
    return {
      nameables: [{ model: "Core::Flow", noun: "flow", exists: flowLookup.exists }],
      uses: flowUses(ctx.sql),
      routes: [...flowRoutes(ctx), ...runRoutes(ctx), ...processRoutes(ctx), ...stepRoutes(stepTypes)],
      handlers: drivers(ctx, leaseSeconds),
      schedules: [
        { id: "flows.prune", cron: "41 * * * *", run: prune },
        { id: "flows.sweep", cron: "*/5 * * * *", run: () => sweepProcesses(ctx) },
      ],
      stop: scripts.stop,
      service: flowService(ctx, {
        registerStep: (step) => registerStep(stepTypes, step),
        registerTriggers: (source) => void triggerSources.push(source),
      }),
    };
  },
});

/** Actions: the only way from an app's page to the back end. behaviour 4.3, B.9. No HTTP, no SQL. */
import { invalid, notFound, type Caller } from "platform";
import type { ActionState } from "../../flows/api.ts";
import type { AppMeta, Action } from "../store.ts";
import type { AppsContext } from "../context.ts";

export interface Act {
  readonly app: AppMeta;
  readonly action: Action;
  readonly caller: Caller | null;
  /** The only one who may ask for its result; null = anyone who knows the id. */
  readonly owner: string | null;
  /** Called before waiting, if the flow has not finished at once. */
  readonly onPending?: (state: ActionState) => Promise<void>;
}

/** Runs the action's flow and waits a second for its result. 422: parameters too large, or no such flow. */
export async function run(
  ctx: AppsContext,
  { app, action, caller, owner, onPending }: Act,
  params: Readonly<Record<string, unknown>>,
): Promise<ActionState> {
  checkSize(params);
  const { accountId, id: appId } = app;
  const { flow_code: flowCode, action: name } = action;
  const scope = scopeOf({ appId, name, caller });
  // Stored with the process in one write, so that nobody else ever learns its result.
  const origin = { app_id: appId, action: name, owner };
  const by = { kind: "app", id: appId, details: { action: name, user_id: caller?.user.id } } as const;
  const state = await ctx.flows.runAction({ accountId, flowCode, input: params, scope, origin, by, onPending });
  if (!state) throw invalid({ flow_code: [`no active flow has the code "${flowCode}"`] });
  return state;
}

/** 404 for a process of another action or of somebody else. */
export async function status(
  ctx: AppsContext,
  { app, action, owner }: Pick<Act, "app" | "action" | "owner">,
  { processId, waitSeconds, signal }: { processId: string; waitSeconds: number; signal: AbortSignal },
): Promise<ActionState> {
  const started = await ctx.flows.originOf({ accountId: app.accountId, processId });
  const { app_id: appId, action: name, owner: starter } = started?.origin ?? {};
  const isOurs = appId === app.id && name === action.action && (starter === null || starter === owner);
  if (!started || !isOurs) throw notFound(noProcess);
  // The flow it was started with: by now the action may name another one.
  const asked = { accountId: app.accountId, flowCode: started.flowCode, processId, waitSeconds, signal };
  const state = await ctx.flows.actionStatus(asked);
  if (!state) throw notFound(noProcess);
  return state;
}

/** 404 where the app has no such action. */
export function actionOf({ actions }: AppMeta, name: string): Action {
  const action = actions.find((one) => one.action === name);
  if (!action) throw notFound("the app has no such action");
  return action;
}

const noProcess = "this action did not start that flow process";
const maxParams = 1_000_000;

function checkSize(params: Readonly<Record<string, unknown>>): void {
  if (JSON.stringify(params).length > maxParams)
    throw invalid({ base: [`the parameters may have at most ${maxParams} characters`] });
}

/** Tells the flow who runs it: `app` stands beside the input, so that no parameter can forge it. */
function scopeOf({ appId, name, caller }: { appId: string; name: string; caller: Caller | null }) {
  const user = caller && {
    id: caller.user.id,
    login: caller.user.login,
    name: caller.user.name,
    email: caller.user.email,
    role: caller.user.role,
  };
  return { app: { id: appId, action: name, user } };
}

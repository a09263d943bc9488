import {
  badRequest,
  invalid,
  isObject,
  ok,
  route,
  tooMany,
  Type,
  unauthorized,
  uuidOf,
  limitKey,
  notFound,
} from "platform";
import type { BaseContext, Reply, Route, Caller } from "platform";
import type { ActionState } from "../../flows/api.ts";
import { ActionRun, ActionStatus } from "../answers.ts";
import { appFor, ownerOf } from "../serve/served-apps.ts";
import type { AppsContext } from "../context.ts";
import type { Action } from "../fields.ts";
import type { AppMeta } from "../store.ts";

const access = { open: "an action may be public; any other one needs sign-in", partly: true } as const;
const shared = { access, apps: "the app's own actions", cors: true, onSites: true } as const;
const flow_process_id = "019a9c1e-0000-7000-8000-000000000004";
const data = { advice: "Take an umbrella" };

const busy = { error: "too many requests, try again in 4 s" };

type Limit = ReturnType<BaseContext["limiter"]>;

/** behaviour 4.3, B.9. */
export function actionRoutes(ctx: AppsContext): Route[] {
  const take = async (limit: Limit, ip: string) => {
    const { allowed, retryAfterSeconds } = await limit.take(limitKey(ip));
    if (!allowed) throw tooMany(retryAfterSeconds);
  };
  return [
    route(
      "POST",
      "/core/apps/:id/action/:action_name",
      {
        summary: "Run an action of an app",
        description:
          "The body is the input of the action's flow. Beside it, the flow gets the caller as `app` { id, action, user }. " +
          "Waits a second for the result, then answers `pending`. A failed flow is `pending` too: its status says what went wrong.",
        ...shared,
        input: "any",
        strangerBytes: 1_000_000,
        request: { city: "Kraków" },
        answers: { 200: ActionRun },
        responses: {
          200: { flow_process_id, status: "finished", data },
          404: { error: "the app has no such action" },
          422: { flow_code: ['no active flow has the code "weather-advice"'] },
          429: busy,
        },
      },
      async (input) => {
        const { caller, app: grant, params, body, ip, settle } = input;
        const app = await appFor(ctx, input, params.id);
        const action = actionOf(app, params.action_name);
        if (!caller && !action.public) throw unauthorized();
        if (!caller) await take(ctx.limits.runs, ip);
        const given = paramsOf(body);
        // A visitor without an app's token may be a program without cookies, which knows only the id.
        const owner = caller || grant ? ownerOf(ctx, input).owner : null;
        const onPending = (state: ActionState) => settle(answerOf(state));
        const run = () => runAction(ctx, { app, action, caller, owner, onPending }, given);
        // They are kept with the process.
        const bytes = JSON.stringify(given).length;
        return answerOf(await (caller ? run() : ctx.databases.visitorStores(ip, bytes, run)));
      },
    ),
    route(
      "GET",
      "/core/apps/:id/action/:action_name/status",
      {
        summary: "The status of an action's run",
        ...shared,
        query: {
          flow_process_id: "from the answer that started it",
          wait: Type.Number({ description: "seconds to wait for its end, at most 25; default 0" }),
        },
        asks: { flow_process_id },
        answers: { 200: ActionStatus },
        responses: {
          200: { status: "finished", data, error: null },
          404: { error: "this action did not start that flow process" },
          429: busy,
        },
      },
      async (input) => {
        const { caller, params, query, request, ip } = input;
        const app = await appFor(ctx, input, params.id);
        const action = actionOf(app, params.action_name);
        if (!caller && !action.public) throw unauthorized();
        if (!caller) await take(ctx.limits.polls, ip);
        const given = query.get("flow_process_id");
        if (!given) throw invalid({ flow_process_id: ["is required"] });
        const { owner } = ownerOf(ctx, input);
        const asked = { processId: uuidOf(given), waitSeconds: secondsOf(query.get("wait")), signal: request.signal };
        const { status, data: result, error } = await statusOf(ctx, { app, action, owner }, asked);
        return ok({ status, data: result, error });
      },
    ),
  ];
}

/** behaviour 4.3: the start answers only pending or finished; the status tells what went wrong. */
function answerOf({ flow_process_id: id, status, data: result }: ActionState): Reply {
  return ok({ flow_process_id: id, status: status === "finished" ? status : "pending", data: result });
}

function paramsOf(body: unknown): Record<string, unknown> {
  if (!isObject(body)) throw badRequest("the body must be a JSON object");
  return body;
}

/** Ignored if it is not a number (behaviour B.3), and capped. */
function secondsOf(given: string | null): number {
  return /^\d{1,6}(\.\d+)?$/.test(given ?? "") ? Number(given) : 0;
}

// Actions: the only way from an app's page to the back end. behaviour 4.3, B.9.

interface ActionCall {
  readonly app: AppMeta;
  readonly action: Action;
  readonly caller: Caller | null;
  /** The only one who may ask for its result; null = anyone who knows the id. */
  readonly owner: string | null;
  /** Called before waiting, if the flow has not finished at once. */
  readonly onPending?: (state: ActionState) => Promise<void>;
}

/** Runs the action's flow and waits a second for its result. 422: parameters too large, or no such flow. */
async function runAction(
  ctx: AppsContext,
  { app, action, caller, owner, onPending }: ActionCall,
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
async function statusOf(
  ctx: AppsContext,
  { app, action, owner }: Pick<ActionCall, "app" | "action" | "owner">,
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
function actionOf({ actions }: AppMeta, name: string): Action {
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

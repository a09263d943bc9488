import {
  badRequest,
  invalid,
  ok,
  route,
  tooMany,
  Type,
  unauthorized,
  uuidOf,
  type BaseContext,
  type Reply,
  type Route,
  limitKey,
} from "platform";
import type { ActionState } from "../flows/api.ts";
import type { JsonDatabases } from "../jsondb/api.ts";
import { ActionRun, ActionStatus } from "./answers.ts";
import { actionOf, type Acting } from "./act.ts";
import type { Serving } from "./serving.ts";
import { appFor, ownerOf } from "./visit.ts";

const access = { open: "an action may be public; any other one needs sign-in" } as const;
const shared = { access, apps: "the app's own actions", cors: true, onSites: true } as const;
const flow_process_id = "019a9c1e-0000-7000-8000-000000000004";
const data = { advice: "Take an umbrella" };

const busy = { error: "too many requests, try again in 4 s" };

type Limit = ReturnType<BaseContext["limiter"]>;

interface Needed {
  readonly serving: Serving;
  readonly acting: Acting;
  readonly databases: JsonDatabases;
  /** Of visitors without sign-in, by their address: starts, and questions how it ends. */
  readonly limits: { readonly runs: Limit; readonly polls: Limit };
}

/** behaviour 4.3, B.9. */
export function actionRoutes({ serving, acting, databases, limits }: Needed): Route[] {
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
          "The body is the input of the action's flow, which finds who asks beside it, as `app` { id, action, user }. " +
          "It waits a second for the result, then answers `pending`; so it does where the flow failed, and the status says why.",
        ...shared,
        input: "any",
        strangerBytes: 1_000_000,
        request: { city: "Kraków" },
        answers: { 200: ActionRun },
        responses: {
          200: { flow_process_id, status: "finished", data },
          404: { error: "the app has no such action" },
          422: { flow_code: ["there is no active flow weather-advice"] },
          429: busy,
        },
      },
      async (input) => {
        const { caller, app: grant, params, body, ip, settle } = input;
        const app = await appFor(serving, input, params.id);
        const action = actionOf(app, params.action_name);
        if (!caller && !action.public) throw unauthorized();
        if (!caller) await take(limits.runs, ip);
        // A visitor without an app's token may be a program without cookies: it has the id alone.
        const owner = caller || grant ? ownerOf(databases, input).owner : null;
        const onPending = (state: ActionState) => settle(answerOf(state));
        return answerOf(await acting.run({ app, action, caller, owner, onPending }, paramsOf(body)));
      },
    ),
    route(
      "GET",
      "/core/apps/:id/action/:action_name/status",
      {
        summary: "How a run of an action goes",
        ...shared,
        query: {
          flow_process_id: "from the answer that started it",
          wait: Type.Number({ description: "seconds to wait for its end, at most 25; default 0" }),
        },
        answers: { 200: ActionStatus },
        responses: {
          200: { status: "finished", data, error: null },
          404: { error: "this action has started no such flow process" },
          429: busy,
        },
      },
      async (input) => {
        const { caller, params, query, request, ip } = input;
        const app = await appFor(serving, input, params.id);
        const action = actionOf(app, params.action_name);
        if (!caller && !action.public) throw unauthorized();
        if (!caller) await take(limits.polls, ip);
        const given = query.get("flow_process_id");
        if (!given) throw invalid({ flow_process_id: ["is required"] });
        const { owner } = ownerOf(databases, input);
        const asked = { processId: uuidOf(given), waitSeconds: secondsOf(query.get("wait")), signal: request.signal };
        const { status, data: result, error } = await acting.status({ app, action, owner }, asked);
        return ok({ status, data: result, error });
      },
    ),
  ];
}

/** behaviour 4.3: here it is pending or finished; what went wrong is told by the status. */
function answerOf({ flow_process_id: id, status, data: result }: ActionState): Reply {
  return ok({ flow_process_id: id, status: status === "finished" ? status : "pending", data: result });
}

function paramsOf(body: unknown): Record<string, unknown> {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw badRequest("the body must be a JSON object");
  return { ...body };
}

/** What is no number is ignored (behaviour B.3); more than the most is the most. */
function secondsOf(given: string | null): number {
  return /^\d{1,6}(\.\d+)?$/.test(given ?? "") ? Number(given) : 0;
}

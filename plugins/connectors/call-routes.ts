import {
  badRequest,
  forbidden,
  HttpError,
  isObject,
  limitKey,
  notFound,
  ok,
  route,
  tooMany,
  unauthorized,
  warned,
  type Route,
} from "platform";
import type { BaseContext } from "platform";
import { ConnectorAnswer, ConnectorFailure } from "./answers.ts";
import type { Connectors } from "./api.ts";
import { paramHints } from "./fill.ts";

type Limit = ReturnType<BaseContext["limiter"]>;

/** behaviour B.9: one method of a connector. */
export function callRoutes(calls: Pick<Connectors, "call" | "methodsOf">, publicLimit: Limit): Route[] {
  return [
    route(
      "POST",
      "/connect/connectors/:code/:method_name",
      {
        summary: "Call one method of a connector",
        description:
          "The body's keys are the parameters. A remote 4xx or 5xx, or no answer at all, is 502 with the remote's answer. " +
          "A method that is not `public` needs the privilege `flows`.",
        access: { open: "a method may be public; any other one needs the privilege `flows`", partly: true },
        when: { active: ["true"] },
        input: "any",
        idempotency: "claim",
        strangerBytes: 1_000_000,
        cors: true,
        request: { city: "Kraków" },
        answers: { 200: ConnectorAnswer, 502: ConnectorFailure },
        responses: {
          200: { status: 200, data: { main: { temp: 21.4 } } },
          422: { city: ["is required"] },
          429: { error: "too many requests, try again in 4 s" },
          502: { error: "the remote answered 404", status: 404, data: { message: "city not found" } },
        },
      },
      async ({ account, caller, params: { code, method_name: name }, body, ip }) => {
        const method = (await calls.methodsOf(account.id, code))?.find((one) => one.name === name);
        if (!method) throw notFound("no active connector with this code has such a method");
        if (!method.public && !caller) throw unauthorized();
        if (!method.public && !caller?.privileges.has("flows")) throw forbidden("this needs the privilege `flows`");
        if (method.public && !caller?.privileges.has("flows")) {
          const take = await publicLimit.take(`${account.id}/${code}/${limitKey(ip)}`);
          if (!take.allowed) throw tooMany(take.retryAfterSeconds);
        }
        const given = paramsOf(body);
        const outcome = await calls.call({ accountId: account.id, code, method: name, params: given });
        if (!outcome) throw notFound("no active connector with this code has such a method");
        const { status, data, error } = outcome;
        if (outcome.isBusy) throw tooMany(outcome.retryAfterSeconds ?? 1);
        if (!outcome.ok) throw new HttpError(502, { error, status, data });
        return warned(ok({ status, data }), paramHints(method, given));
      },
    ),
  ];
}

function paramsOf(body: unknown): Record<string, unknown> {
  if (!isObject(body)) throw badRequest("the body must be a JSON object");
  return body;
}

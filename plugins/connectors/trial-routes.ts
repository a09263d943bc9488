import { found, invalid, notFound, ok, refOf, route, Type, warned, type ContextOf, type Route } from "platform";
import { ConnectorTrial } from "./answers.ts";
import { Connector, exampleUrl, type ConnectorAt } from "./connector.ts";
import { paramHints } from "./fill.ts";
import type { Calls } from "./service.ts";

const TrialInput = Type.Object({
  params: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: "the parameters of the call" })),
});

const trialExample = {
  ok: true,
  status: 200,
  data: { main: { temp: 21.4 } },
  error: null,
  duration_ms: 87,
  request: {
    method: "GET",
    url: `${exampleUrl}/weather?q=Krak%C3%B3w&units=metric&appid=[secret]`,
    headers: { accept: "application/json, */*;q=0.5" },
    body: null,
  },
};

/** Calls a method as flows do, and shows the request beside the answer. behaviour B.9. */
export function trialRoutes(around: ContextOf<ConnectorAt>, calls: Pick<Calls, "methodsOf" | "tryOut">): Route[] {
  return [
    route(
      "POST",
      "/connect/connectors/:id/methods/:method_name/try",
      {
        summary: "Try one method of a connector",
        description:
          "Calls it, and answers with the request that was sent and what came of it, also if the remote refused it. The " +
          "secret is replaced by `[secret]`. `request` is null for kinds that do not speak HTTP.",
        access: { privilege: "flows" },
        when: { active: ["true"] },
        body: { schema: TrialInput },
        idempotency: "claim",
        request: { params: { city: "Kraków" } },
        answers: { 200: ConnectorTrial },
        responses: { 200: trialExample, 422: { city: ["is required"] } },
      },
      async ({ caller, params, body }) => {
        const { code, active } = await found(Connector, { ...around, caller }, refOf(Connector, params.id));
        if (!active) throw invalid({ base: ["the connector is not active: switch it on first"] });
        const given = { accountId: caller.account.id, code, method: params.method_name, params: body.params ?? {} };
        const trial = await calls.tryOut(given);
        if (!trial) throw notFound("the connector has no such method");
        const { durationMs, retryAfterSeconds: _, ...outcome } = trial.outcome;
        const facts = (await calls.methodsOf(caller.account.id, code))?.find(({ name }) => name === params.method_name);
        const reply = ok({ ...outcome, duration_ms: durationMs, request: trial.request });
        return warned(reply, facts ? paramHints(facts, given.params) : []);
      },
    ),
  ];
}

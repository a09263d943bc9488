import {
  answer,
  badRequest,
  field,
  forbidden,
  found,
  HttpError,
  invalid,
  isObject,
  limitKey,
  list,
  notFound,
  ok,
  pageOf,
  pageQuery,
  refOf,
  resourceRoutes,
  route,
  tooMany,
  Type,
  unauthorized,
  warned,
} from "platform";
import type { BaseContext, ContextOf, Route, TSchema } from "platform";
import type { Connectors } from "./api.ts";
import { checkConnector, Connector, exampleUrl, type ConnectorAt } from "./connector.ts";
import { paramHints } from "./fill.ts";
import { describedMethods } from "./custom.ts";
import type { Calls, TrialResult } from "./service.ts";

/** behaviour B.9: the usual five calls; `:id` is the id or the code. */
export function connectorRoutes(around: ContextOf<ConnectorAt>): Route[] {
  const { kinds } = around;
  // Other plugins add kinds until the server starts: what can be chosen is looked up when it is asked for.
  const forms = {
    fields: {
      kind: (schema: TSchema) => field.from(schema, { values: () => [...kinds.keys()] }),
      fields: (schema: TSchema) =>
        field.by(schema, "kind", () =>
          Object.fromEntries([...kinds].flatMap(([name, { fields }]) => (fields ? [[name, fields]] : []))),
        ),
    },
    needs: () => ([...kinds.values()].every(({ needsUrl }) => needsUrl) ? [["url"]] : []),
  };
  const { list: listing, get, ...others } = resourceRoutes(Connector, around, { forms });
  const methods = route(
    "GET",
    "/connect/connectors/:id/methods",
    {
      summary: "List the methods of a connector",
      description: "Also those that its kind has by itself. `parameters` are the names that a call fills in.",
      access: { privilege: "flows" },
      query: pageQuery,
      answers: { 200: answer.list(ConnectorMethod) },
      responses: { 200: [{ name: "current", description: "Weather now", parameters: ["city"], public: false }] },
    },
    async ({ caller, params, query }) => {
      const { kind, fields } = await found(Connector, { ...around, caller }, refOf(Connector, params.id));
      const all = describedMethods(kinds.get(kind)?.methods(fields) ?? [], fields);
      const { limit, offset } = pageOf(query);
      return list(all.slice(offset, offset + limit), all.length);
    },
  );
  return [listing, get, methods, ...Object.values(others)];
}

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

const TrialInput = Type.Object({
  params: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: "the parameters of the call" })),
});

const UnstoredTrialInput = Type.Object({
  connector: Type.Object({
    kind: field.name(100),
    url: Type.Optional(field.line(2000)),
    secret_token: Type.Optional(field.line(10_000)),
    fields: Type.Optional(field.object()),
  }),
  method: field.name(100),
  params: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: "the parameters of the call" })),
});

const trialFields = { methods: { current: { method: "GET", path: "/weather", query: { q: "{city}" } } } };

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
export function trialRoutes(
  around: ContextOf<ConnectorAt>,
  calls: Pick<Calls, "methodsOf" | "tryOut" | "tryUnstored">,
): Route[] {
  return [
    route(
      "POST",
      "/connect/connectors/try",
      {
        summary: "Try a connector before it is stored",
        description: "Checks it as a save does, calls one of its methods and stores nothing.",
        access: { privilege: "flows" },
        body: { schema: UnstoredTrialInput },
        idempotency: "claim",
        request: {
          connector: { kind: "core/custom_connector", url: exampleUrl, fields: trialFields },
          method: "current",
          params: { city: "Kraków" },
        },
        answers: { 200: ConnectorTrial },
        responses: { 200: trialExample, 422: { url: ["can't be blank"] } },
      },
      async ({ caller, body: { connector, method, params = {} } }) => {
        const { kind, secret_token: secret = null, fields = {} } = connector;
        const [code, url] = ["unstored", connector.url?.trim() ?? ""];
        const input = { name: kind, code, kind, url, fields, active: true, secretToken: secret, secretTokenInfo: null };
        checkConnector(around.kinds, input, { secret_token: secret });
        const open = { accountId: caller.account.id, code, kind, url, fields, secret };
        const trial = await calls.tryUnstored(open, { method, params });
        if (!trial) throw invalid({ method: ["is no method of it"] });
        return ok(trialAnswer(trial));
      },
    ),
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
        const facts = (await calls.methodsOf(caller.account.id, code))?.find(({ name }) => name === params.method_name);
        return warned(ok(trialAnswer(trial)), facts ? paramHints(facts, given.params) : []);
      },
    ),
  ];
}

function trialAnswer({ request, outcome: { ok: went, status, data, error, durationMs } }: TrialResult) {
  return { ok: went, status, data, error, duration_ms: durationMs, request };
}

/** The answers of the routes of connectors beside the usual five. */
export const ConnectorMethod = answer.object("ConnectorMethod", {
  name: Type.String(),
  description: field.nullable(Type.String()),
  parameters: Type.Array(Type.String()),
  public: Type.Boolean(),
});

/** `status` is null if the connector does not speak HTTP. */
export const ConnectorAnswer = answer.object("ConnectorAnswer", {
  status: field.nullable(Type.Integer()),
  data: Type.Unknown(),
});
/** `request` is null if the connector's kind does not tell it. */
export const ConnectorTrial = answer.object("ConnectorTrial", {
  ok: Type.Boolean(),
  status: field.nullable(Type.Integer()),
  data: Type.Unknown(),
  error: field.nullable(Type.String()),
  duration_ms: Type.Integer(),
  request: field.nullable(
    answer.object("ConnectorRequest", {
      method: Type.String(),
      url: Type.String(),
      headers: Type.Record(Type.String(), Type.String()),
      body: field.nullable(Type.String()),
    }),
  ),
});
/** If the remote did not answer, `status` and `data` are null. */
export const ConnectorFailure = answer.object("ConnectorFailure", {
  error: field.nullable(Type.String()),
  status: field.nullable(Type.Integer()),
  data: Type.Unknown(),
});

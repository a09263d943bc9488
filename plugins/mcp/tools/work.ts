/** Tools that try, run and check: apps, flows and sites. */
import { Type } from "platform";
import { resultOf } from "../answer.ts";
import { idInput, segment, tool, type Tool } from "./tool.ts";

const anyObject = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });

export const workTools: readonly Tool[] = [
  tool({
    name: "preview_app",
    title: "Compile an app without saving it",
    description:
      "Compiles an app and answers with the address of a page that lasts ten minutes, or with the mistakes as line:column. Use it before create and update.",
    repeats: true,
    input: Type.Object({
      app: anyObject("the app's fields, as for create; with `id` only those that differ from the saved one"),
      id: Type.Optional(Type.String({ maxLength: 100, description: "the saved app that this is a draft of" })),
    }),
    routes: ["POST /core/apps/preview"],
    run: async ({ app, id }, session) => {
      const body = { app: { ...app, ...(id !== undefined && { id }) } };
      return resultOf(await session.ask({ method: "POST", path: "/core/apps/preview", body }));
    },
  }),
  tool({
    name: "test_flow",
    title: "Rehearse a flow",
    description:
      "Without any effect: connectors and databases are not asked, `answers` stand for theirs. Shows each step's output. `run_flow` is the real thing.",
    repeats: true,
    input: Type.Object({
      flow: idInput("id or code"),
      input: Type.Optional(anyObject("its input")),
      answers: Type.Optional(
        anyObject(
          "by step id, `<connector>.<method>` or `<database>.<op>`: the data, or { status, data }, or { error }",
        ),
      ),
      program: Type.Optional(Type.Array(Type.Unknown(), { description: "steps to test instead of the saved ones" })),
    }),
    routes: ["POST /connect/flows/:code/test"],
    run: async ({ flow, ...body }, session) => {
      const path = `/connect/flows/${segment("flow", flow)}/test` as const;
      return resultOf(await session.ask({ method: "POST", path, body }));
    },
  }),
  tool({
    name: "run_flow",
    title: "Run a flow for real",
    description:
      "Starts a flow with real effects and answers with its process. If that is still `pending`, read it later: get, resource flow_processes.",
    destroys: true,
    reachesOut: true,
    input: Type.Object({
      flow: idInput("id or code"),
      input: Type.Optional(anyObject("its input")),
      wait: Type.Optional(
        Type.Number({ minimum: 0, maximum: 25, description: "seconds to wait for its end, default 1" }),
      ),
    }),
    routes: ["POST /connect/flows/:code/run"],
    run: async ({ flow, input = {}, wait = 1 }, session) => {
      const path = `/connect/flows/${segment("flow", flow)}/run?wait=${wait}` as const;
      return resultOf(await session.ask({ method: "POST", path, body: input }));
    },
  }),
  tool({
    name: "check_site",
    title: "Check a site",
    description: "Finds mistakes of a site by the rules of search engines and of multilingual sites.",
    reads: true,
    input: Type.Object({
      site: idInput("id or code"),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
      offset: Type.Optional(Type.Integer({ minimum: 0 })),
    }),
    routes: ["GET /cms/sites/:id/check"],
    run: async ({ site, limit = 100, offset = 0 }, session) => {
      const path = `/cms/sites/${segment("site", site)}/check?limit=${limit}&offset=${offset}` as const;
      return resultOf(await session.ask({ method: "GET", path }));
    },
  }),
];

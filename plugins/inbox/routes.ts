/** Answering and passing on a question, in the Studio or by the API. behaviour B.9. */
import { answer, field, ok, route, Type, uuidOf, type Route } from "platform";
import { findAsk, giveAnswer, passOn, toItem } from "./ask.ts";
import type { InboxContext } from "./context.ts";

const access = { signedIn: "it is in one's own inbox" } as const;

const Ask = {
  ...answer.object("Ask", { id: answer.uuid(), kind: Type.String(), title: Type.String() }),
  additionalProperties: true,
};

const example = {
  id: "019a9c1e-0000-7000-8000-000000000021",
  kind: "ask",
  title: "Approve order 12?",
  text: "It is 1,200 €.",
  choices: [
    { value: "approve", color: "green" },
    { value: "decline", color: "red" },
  ],
  fields: {},
  otherwise: null,
  status: "answered",
  to: ["role:manager"],
  passed_on: [],
  flow_code: "order-intake",
  flow_process_id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e11",
  choice: "approve",
  answer: {},
  comment: null,
  answered_by: "Ann",
  expires_at: "2026-03-02T10:00:00.000Z",
  created_at: "2026-01-31T10:00:00.000Z",
  read_at: "2026-01-31T10:05:00.000Z",
};

export function askRoutes(ctx: InboxContext): Route[] {
  return [
    route(
      "POST",
      "/core/inbox/:id/answer",
      {
        summary: "Answer a question of a flow",
        description:
          "`choice` is the value of one of its choices, `fields` has the values of its fields. The flow goes on with it.",
        access,
        body: {
          key: "answer",
          schema: Type.Object({
            choice: field.name(100),
            fields: Type.Optional(field.nullable(field.object())),
            comment: Type.Optional(field.nullable(field.line(2000))),
          }),
        },
        request: { choice: "approve" },
        answers: { 200: Ask },
        responses: {
          200: example,
          409: { error: "Ann has answered already" },
          422: { choice: ["must be one of approve, decline"] },
        },
      },
      async ({ caller, params, body }) => {
        const ask = await findAsk(ctx, caller, uuidOf(params.id));
        const { choice, fields, comment } = body;
        const { id, name } = caller.user;
        return ok(toItem(await giveAnswer(ctx, ask, { id, name }, { choice, fields: fields ?? {}, comment })));
      },
    ),
    route(
      "POST",
      "/core/inbox/:id/pass_on",
      {
        summary: "Pass a question on to somebody else",
        description:
          "From then on it is in their inbox alone. `to`: user:7, team:3, department:2, group:4, role:manager, an id or a login.",
        access,
        body: { schema: Type.Object({ to: field.name(300) }) },
        request: { to: "user:1" },
        answers: { 200: Ask },
        responses: {
          200: {
            ...example,
            status: "open",
            choice: null,
            answer: null,
            answered_by: null,
            read_at: null,
            to: ["user:1"],
          },
        },
      },
      async ({ caller, params, body }) => ok(toItem(await passOn(ctx, caller, uuidOf(params.id), body.to))),
    ),
  ];
}

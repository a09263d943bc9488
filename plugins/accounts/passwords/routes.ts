import {
  answer,
  created,
  field,
  integerId,
  jsonText,
  languageOf,
  pageReply,
  noContent,
  ok,
  pageOf,
  pageQuery,
  toApi,
} from "platform";
import { roles, route, Type, type Route } from "platform";
import { languages } from "../../mail/api.ts";
import { User } from "../people/person.ts";
import { refuseOtherOrigins } from "../sessions/api.ts";
import type { PasswordsContext } from "./context.ts";
import { makeInvitation, oneInvitation, resendInvitation, revokeInvitation } from "./invitations.ts";
import { requestReset } from "./links.ts";
import { Invitation, invitations, type LinkRow } from "./store.ts";

const access = { privilege: "users" } as const;

const Input = field.needs(
  Type.Object({
    email: Type.Optional(Type.String({ minLength: 3, maxLength: 254, description: "of somebody new" })),
    user_id: Type.Optional(field.from(field.id(), { path: "/account/users.json", value: "id" })),
    login: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: String.raw`^[^\s\x00-\x1f\x7f]+$`,
        description: "by default the address",
      }),
    ),
    name: Type.Optional(field.name()),
    role: Type.Optional(field.oneOf(roles)),
    privileges: Type.Optional(field.names()),
    team_ids: Type.Optional(field.ids()),
    group_ids: Type.Optional(field.ids()),
    department_ids: Type.Optional(field.ids()),
    language: Type.Optional(field.oneOf(languages)),
  }),
  [["email", "user_id"]],
);

const { answer: Own, example } = Invitation;
// Its form has fields of the person, too.
const Shown = { ...Own, "x-fields": { ...User.answers.one["x-fields"], ...Own["x-fields"] } };
const shown = (row: LinkRow) => toApi(Invitation, row);

/** Inviting people by mail. behaviour B.13. */
export function invitationRoutes(ctx: PasswordsContext): Route[] {
  return [
    route(
      "GET",
      "/account/invitations",
      {
        summary: "List the invitations that nobody has taken up",
        access,
        query: pageQuery,
        answers: { 200: answer.list(Shown) },
        responses: { 200: [example] },
      },
      async ({ caller, query }) => {
        return pageReply(await invitations(ctx.sql, caller.account.id, pageOf(query)), shown);
      },
    ),
    route(
      "GET",
      "/account/invitations/:id",
      { summary: "One invitation", access, answers: { 200: Shown }, responses: { 200: example } },
      async ({ caller, params }) => ok(shown(await oneInvitation(ctx, caller, integerId(params.id)))),
    ),
    route(
      "POST",
      "/account/invitations",
      {
        summary: "Invite a person by mail",
        description:
          "Adds the person, switched off and without a password, and sends a link by which they set one, or come in by a sign-in provider that has verified the same address: it works once, for seven days, and switches them on. With `user_id` somebody who is there already is sent such a link. Another invitation ends the one before. The limits of `POST /account/users` hold.",
        access,
        body: { key: "invitation", schema: Input },
        request: { email: "jan@example.com", name: "Jan Kowalski", role: "user", language: "pl" },
        answers: { 201: Shown },
        responses: { 201: example, 422: { base: ["mail is not set up: …"] } },
      },
      async ({ caller, body }) => created(shown(await makeInvitation(ctx, caller, body))),
    ),
    route(
      "POST",
      "/account/invitations/:id/resend",
      {
        summary: "Send another link",
        description: "It works for seven days from now. The one before ends.",
        access,
        answers: { 201: Shown },
        responses: { 201: example },
      },
      async ({ caller, params }) => created(shown(await resendInvitation(ctx, caller, integerId(params.id)))),
    ),
    route(
      "DELETE",
      "/account/invitations/:id",
      {
        summary: "Withdraw an invitation",
        description: "A person who was added by it, and has never come in, is deleted.",
        access,
        responses: { 204: null },
      },
      async ({ caller, params }) => {
        await revokeInvitation(ctx, caller, integerId(params.id));
        return noContent();
      },
    ),
  ];
}

/** Asking for a new password through the API. behaviour B.13. */
export function resetRoutes(ctx: PasswordsContext): Route[] {
  return [
    route(
      "POST",
      "/account/password_resets",
      {
        summary: "Ask for a new password",
        description:
          "The answer is the same whether or not there is such a person. If there is, they get a mail with a link that works once, for 60 minutes; at most three in an hour.",
        access: { open: "who has forgotten a password cannot sign in" },
        body: {
          schema: Type.Object({
            login: Type.String({ minLength: 1, maxLength: 255, description: "or e-mail address" }),
          }),
        },
        maxBytes: 16_384,
        request: { login: "anna" },
        answers: { 202: answer.object("Accepted", { message: Type.String() }) },
        responses: {
          202: { message: accepted },
          422: { base: ["mail is not set up: …"] },
          429: { error: "too many requests, try again in 4 s" },
        },
      },
      async (input) => {
        refuseOtherOrigins(input);
        await requestReset(ctx, input.account, input.ip, input.body.login, languageOf(input.request));
        return jsonText(202, JSON.stringify({ message: accepted }));
      },
    ),
  ];
}

const accepted = "if somebody has this login or address, a mail is on its way";

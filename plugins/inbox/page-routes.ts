/** The page by which somebody without sign-in answers a question: plain HTML that works without scripts. */
import {
  escapeHtml,
  filledIn,
  HttpError,
  languageOf,
  limitKey,
  route,
  text,
  Type,
  ValidationError,
  type RequestInput,
  type Route,
} from "platform";
import { originMistake, page, pageAnswers } from "../accounts/api.ts";
import { giveAnswer } from "./ask.ts";
import type { InboxContext } from "./context.ts";
import { readToken, words } from "./mails.ts";
import { formPage, labelOf, labelOfChoice, shownText, valuesOf, type Values, type Words } from "./page.ts";
import { find } from "./store.ts";

type Visit = Pick<RequestInput, "account" | "request">;

const open = { open: "the link in the mail is the credential" } as const;

export function pageRoutes(ctx: InboxContext): Route[] {
  const headers = { ...ctx.sessions.pageHeaders, "referrer-policy": "same-origin" };
  const tries = ctx.limiter("inbox.links", { limit: 60, windowSeconds: 300 });
  const shown = (status: number, { account }: Visit, own: Words, title: string, content: string) =>
    text(status, page(own, escapeHtml(title), account.name, content), "text/html; charset=utf-8", headers);
  const said = (status: number, visit: Visit, own: Words, message: string, title = own.question) =>
    shown(status, visit, own, title, `<p role="status">${message}</p>`);

  /** The question and who is asked, or the page that says why not. */
  const seen = async (input: Visit & Pick<RequestInput, "ip">, token: string) => {
    const own = wordsOf(input);
    if (!(await tries.take(limitKey(input.ip))).allowed) return { own, refusal: said(429, input, own, own.wait) };
    const read = readToken(ctx, token);
    const isHere = read?.accountId === input.account.id;
    const ask =
      read && isHere && (await find(ctx.sql, read.accountId, read.id, [`${read.accountId}/address:${read.address}`]));
    if (!read || !ask) return { own, refusal: said(404, input, own, own.unknown) };
    if (ask.status !== "open" || ask.expiresAt < ctx.now()) return { own, refusal: said(409, input, own, own.ended) };
    return { own, ask, address: read.address };
  };

  return [
    route(
      "GET",
      "/asks/:token",
      {
        summary: "The page to answer a question of a flow by a link",
        description: "Showing it answers nothing.",
        access: open,
        ...pageAnswers(200, 404, 409, 429),
      },
      async (input) => {
        const found = await seen(input, input.params.token);
        if ("refusal" in found) return found.refusal;
        return shown(200, input, found.own, found.ask.title, formPage(found.own, found.ask, {}));
      },
    ),
    route(
      "POST",
      "/asks/:token",
      {
        summary: "Answer a question of a flow with the form",
        access: open,
        input: "fields",
        takes: [Type.Object({}, { description: "`choice`, `comment`, and the values of the fields" })],
        maxBytes: 65_536,
        strangerBytes: 65_536,
        request: { choice: "approve" },
        ...pageAnswers(200, 403, 404, 409, 422, 429),
      },
      async (input) => {
        const found = await seen(input, input.params.token);
        if ("refusal" in found) return found.refusal;
        const { own, ask, address } = found;
        if (originMistake(input) !== undefined) return said(403, input, own, own.refused);
        const given: Values = Object(input.body);
        const { choice, comment, ...rest } = given;
        try {
          const fields = valuesOf(ask, rest);
          await giveAnswer(
            ctx,
            ask,
            { id: null, name: address },
            { choice: shownText(choice), fields, comment: shownText(comment).slice(0, 2000) },
          );
          const chosen = ask.choices.find(({ value }) => value === choice);
          const answer = chosen ? labelOfChoice(own, chosen) : "";
          return said(200, input, own, filledIn(own.answered, { choice: escapeHtml(answer) }), ask.title);
        } catch (error) {
          if (error instanceof ValidationError) {
            const lines = Object.entries(error.fields).map(([name, messages]) =>
              filledIn(own.wrong, {
                field: escapeHtml(labelOf(ask, name, own.language)),
                mistake: escapeHtml(messages.join(", ")),
              }),
            );
            const alert = `<p role="alert">${lines.join("<br>")}</p>`;
            return shown(422, input, own, ask.title, alert + formPage(own, ask, given));
          }
          if (error instanceof HttpError && error.status === 409) return said(409, input, own, own.ended);
          throw error;
        }
      },
    ),
  ];
}

function wordsOf({ request }: Pick<Visit, "request">): Words {
  const language = languageOf(request) ?? "en";
  return { ...words[language], language };
}

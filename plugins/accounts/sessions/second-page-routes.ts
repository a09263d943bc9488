import { filledIn, HttpError, languageOf, redirect, route, secret, text, Type } from "platform";
import type { Reply, RequestInput, Route } from "platform";
import type { FactorKind } from "../factors/api.ts";
import type { Sessions } from "./api.ts";
import { originMistake, pageAnswers, pageHeaders, safePath, sessionCookieOf, type Headers } from "./browser.ts";
import type { SessionsContext } from "./context.ts";
import { loginPage } from "./page.ts";
import { recoveryPage, secondPage } from "./second-page.ts";
import { beginStep, finishStep, kindsOf, setupOf, type Proof } from "./second-step.ts";
import { startSession } from "./sign-in.ts";
import { pageWords, secondWords, waitText } from "./words.ts";

const short = Type.Optional(Type.String());
const Form = Type.Object({ pending: short, code: short, setup: short, return_to: short });
const htmlType = "text/html; charset=utf-8";

type Visit = Pick<RequestInput, "account" | "request">;
interface SecondFactorForm {
  readonly returnTo: string;
  readonly pending: string;
  readonly setup?: string;
  readonly error?: string;
}

/** Goes on when a proof other than a password has shown who somebody is. */
export async function admit(
  ctx: SessionsContext,
  input: Parameters<Sessions["admit"]>[0],
  { userId, returnTo: given, isSecond, origin }: Parameters<Sessions["admit"]>[1],
): Promise<Reply> {
  const returnTo = safePath(given);
  const step = isSecond ? undefined : await beginStep(ctx, { accountId: input.account.id, userId }, { origin });
  if (step) return secondForm(ctx, 200, input, { returnTo, pending: step.pending }, step.factors);
  const { token, expiresAt } = await startSession(ctx, input, userId, { origin });
  const headers = { "cache-control": "no-store", "referrer-policy": "no-referrer" };
  const cookie = sessionCookieOf(token, expiresAt, input.secure);
  return secret(redirect(303, returnTo, { ...headers, "set-cookie": cookie }));
}

/** The form for the code; for somebody without a factor with what they need to set one up. */
export async function secondForm(
  ctx: SessionsContext,
  status: number,
  { account, request }: Visit,
  shown: SecondFactorForm,
  factors: readonly FactorKind[],
  more: Headers = {},
): Promise<Reply> {
  const { returnTo, pending, setup, error } = shown;
  const state = { ...wordsOf(request), accountName: account.name, returnTo, pending, factors, ...(error && { error }) };
  const totp = factors.length === 0 ? await setupOf(ctx, account.id, pending, setup) : undefined;
  return text(status, secondPage({ ...state, ...(totp && { totp }) }), htmlType, { ...headersOf(ctx), ...more });
}

function codesShown(
  ctx: SessionsContext,
  { account, request }: Visit,
  returnTo: string,
  codes: readonly string[],
  more: Headers,
): Reply {
  const state = { ...wordsOf(request), accountName: account.name, returnTo };
  return text(200, recoveryPage(state, codes), htmlType, { ...headersOf(ctx), ...more });
}

/** The first form again: the second step has ended. */
function restart(
  ctx: SessionsContext,
  status: number,
  { account, request }: Visit,
  returnTo: string,
  error?: string,
): Reply {
  const { words, more } = wordsOf(request);
  const page = loginPage({ words, accountName: account.name, returnTo, error: error ?? more.expired });
  return text(status, page, htmlType, headersOf(ctx));
}

const headersOf = ({ styleHash }: SessionsContext) => pageHeaders(styleHash, "img-src 'self' data:");

function wordsOf(request: Request) {
  const language = languageOf(request);
  return { words: pageWords[language], more: secondWords[language] };
}

/** The form of the second step. */
export function secondPageRoutes(ctx: SessionsContext): Route[] {
  return [
    route(
      "POST",
      "/login/second_factor",
      {
        summary: "The second step of the sign-in page",
        access: { open: "it is how one signs in" },
        input: "form",
        body: { schema: Form },
        maxBytes: 16_384,
        idempotency: "own",
        request: { pending: "kJ3…", code: "123456", return_to: "/" },
        ...pageAnswers(200, 303, 401, 403, 422, 429),
      },
      async (input) => {
        const { account, body, ip, request, secure } = input;
        const { words, more } = wordsOf(request);
        const mistake = originMistake(input);
        if (mistake !== undefined) return restart(ctx, 403, input, "/", filledIn(words.refused, { reason: mistake }));
        const returnTo = safePath(body.return_to);
        const proof = proofOf(body);
        try {
          const { userId, cameBy, recoveryCodes } = await finishStep(ctx, account.id, ip, proof);
          return await input.once(`sign-in:${userId}`, async () => {
            const { token, expiresAt } = await startSession(ctx, input, userId, cameBy);
            const cookie = { "set-cookie": sessionCookieOf(token, expiresAt, secure) };
            if (!recoveryCodes) return secret(redirect(303, returnTo, cookie));
            return secret(codesShown(ctx, input, returnTo, recoveryCodes, cookie));
          });
        } catch (error) {
          return await again(error, { ...proof, returnTo });
        }

        async function again(error: unknown, shown: Proof & { readonly returnTo: string }): Promise<Reply> {
          if (!(error instanceof HttpError) || ![401, 422, 429].includes(error.status)) throw error;
          const wait = error.headers["retry-after"];
          const said = wait === undefined ? more.wrong : waitText(words, wait);
          const headers = wait === undefined ? undefined : { "retry-after": wait };
          try {
            const kinds = await kindsOf(ctx, account.id, proof.pending);
            return await secondForm(ctx, error.status, input, { ...shown, error: said }, kinds, headers);
          } catch (ended) {
            if (ended instanceof HttpError && ended.status === 401) return restart(ctx, 401, input, returnTo);
            throw ended;
          }
        }
      },
    ),
  ];
}

function proofOf({ pending = "", code = "", setup }: { pending?: string; code?: string; setup?: string }): Proof {
  const proof = { pending: pending.slice(0, 200), code: code.slice(0, 100) };
  return setup ? { ...proof, setup: setup.slice(0, 2000) } : proof;
}

import { answer, filledIn, HttpError, languageOf, redirect, route, secret, text, Type } from "platform";
import type { Reply, RequestInput, Route } from "platform";
import type { FactorKind } from "../factors/api.ts";
import { sessionCookieOf } from "./cookie.ts";
import { originMistake } from "./origin.ts";
import { loginPage } from "./page.ts";
import { pageHeaders, type Headers } from "./page-headers.ts";
import { safePath } from "./return-to.ts";
import { recoveryPage, secondPage } from "./second-page.ts";
import type { Proof, SecondStep } from "./second-step.ts";
import { secondWords } from "./second-words.ts";
import type { SignIn } from "./sign-in.ts";
import { pageWords, waitText } from "./words.ts";

const short = Type.Optional(Type.String());
const Form = Type.Object({ pending: short, code: short, setup: short, return_to: short });
const html = answer.text("text/html");
const either = [html, answer.error];
const htmlType = "text/html; charset=utf-8";

interface Needed {
  readonly signIn: SignIn;
  readonly second: SecondStep;
  readonly styleHash: string;
}

type Asked = Pick<RequestInput, "account" | "request">;
interface Shown {
  readonly returnTo: string;
  readonly pending: string;
  readonly setup?: string;
  readonly error?: string;
}

export type SecondPages = ReturnType<typeof createSecondPages>;

export function createSecondPages({ second, styleHash }: Pick<Needed, "second" | "styleHash">) {
  const headers = pageHeaders(styleHash, "img-src 'self' data:");
  const wordsOf = (request: Request) => {
    const language = languageOf(request);
    return { words: pageWords[language], more: secondWords[language] };
  };

  return {
    /** The form for the code; for somebody without a factor with what they need to set one up. */
    async form(
      status: number,
      { account, request }: Asked,
      shown: Shown,
      factors: readonly FactorKind[],
      more: Headers = {},
    ) {
      const { returnTo, pending, setup, error } = shown;
      const state = {
        ...wordsOf(request),
        accountName: account.name,
        returnTo,
        pending,
        factors,
        ...(error && { error }),
      };
      const totp = factors.length === 0 ? await second.totp(account.id, pending, setup) : undefined;
      return text(status, secondPage({ ...state, ...(totp && { totp }) }), htmlType, { ...headers, ...more });
    },

    codes({ account, request }: Asked, returnTo: string, codes: readonly string[], more: Headers): Reply {
      const state = { ...wordsOf(request), accountName: account.name, returnTo };
      return text(200, recoveryPage(state, codes), htmlType, { ...headers, ...more });
    },

    /** The first form again: the second step has ended. */
    restart(status: number, { account, request }: Asked, returnTo: string, error?: string): Reply {
      const { words, more } = wordsOf(request);
      const page = loginPage({ words, accountName: account.name, returnTo, error: error ?? more.expired });
      return text(status, page, htmlType, headers);
    },

    wordsOf,
  };
}

/** The form of the second step. */
export function secondPageRoutes({
  signIn,
  second,
  pages,
}: Omit<Needed, "styleHash"> & { pages: SecondPages }): Route[] {
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
        answers: { 200: html, 401: either, 403: either, 422: [html, answer.fieldErrors], 429: either },
        responses: {
          200: "<!doctype html> …",
          303: null,
          401: "<!doctype html> …",
          403: "<!doctype html> …",
          422: "<!doctype html> …",
          429: "<!doctype html> …",
        },
      },
      async (input) => {
        const { account, body, ip, request, secure } = input;
        const { words, more } = pages.wordsOf(request);
        const mistake = originMistake(input);
        if (mistake !== undefined) return pages.restart(403, input, "/", filledIn(words.refused, { reason: mistake }));
        const returnTo = safePath(body.return_to);
        const proof = proofOf(body);
        try {
          const { userId, cameBy, recoveryCodes } = await second.finish(account.id, ip, proof);
          return await input.once(`sign-in:${userId}`, async () => {
            const { token, expiresAt } = await signIn.start(input, userId, cameBy);
            const cookie = { "set-cookie": sessionCookieOf(token, expiresAt, secure) };
            if (!recoveryCodes) return secret(redirect(303, returnTo, cookie));
            return secret(pages.codes(input, returnTo, recoveryCodes, cookie));
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
            const kinds = await second.kindsOf(account.id, proof.pending);
            return await pages.form(error.status, input, { ...shown, error: said }, kinds, headers);
          } catch (ended) {
            if (ended instanceof HttpError && ended.status === 401) return pages.restart(401, input, returnTo);
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

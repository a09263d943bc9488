import { filledIn, HttpError, languageOf, redirect, route, secret, text, Type } from "platform";
import type { Account, Language, RequestInput, Route } from "platform";
import { brandSettings } from "../people/brand.ts";
import { endedCookie, hashOf, originMistake, pageAnswers, pageHeaders, safePath, sessionCookieOf } from "./browser.ts";
import type { Headers } from "./browser.ts";
import type { SessionsContext } from "./context.ts";
import { loginPage, logoutPage, signedOutPage, styleOf, type PageLink } from "./page.ts";
import { secondForm } from "./second-page-routes.ts";
import { beginStep } from "./second-step.ts";
import { leave, personOf, startSession } from "./sign-in.ts";
import { pageWords, secondWords, waitText } from "./words.ts";

const Form = Type.Object({
  login: Type.Optional(Type.String()),
  password: Type.Optional(Type.String()),
  return_to: Type.Optional(Type.String()),
});

/** The sign-in page, for people without scripts too. */
export function loginRoutes(ctx: SessionsContext): Route[] {
  const page = async (status: number, { account, request }: Visit, state: SignInForm, more: Headers = {}) => {
    const words = pageWords[languageOf(request)];
    const links = await linksOf(ctx, account, words.language, state);
    const { logo, hue, chroma } = await ctx.accounts.settingsOf(account.id, brandSettings);
    const brand = { logo: logo === "" ? undefined : `/media/${logo}/logo`, style: styleOf(hue, chroma) };
    const shown = { words, accountName: account.name, links, brand, ...state };
    return text(status, loginPage(shown), htmlType, { ...pageHeaders(await hashOf(brand.style)), ...more });
  };

  return [
    route(
      "GET",
      "/login",
      {
        summary: "The sign-in page",
        access: { open: "it is how one signs in" },
        query: {
          return_to: "a path of this origin to go to afterwards",
          again: "`1` also for somebody who is signed in",
        },
        ...pageAnswers(200, 303),
      },
      async (input) => {
        const returnTo = safePath(input.query.get("return_to"));
        const goesOn = input.caller !== null && input.query.get("again") !== "1";
        return goesOn ? redirect(303, returnTo) : page(200, input, { returnTo, again: input.caller !== null });
      },
    ),
    route(
      "POST",
      "/login",
      {
        summary: "Sign in with the form and continue",
        access: { open: "it is how one signs in" },
        input: "form",
        body: { schema: Form },
        maxBytes: 16_384,
        idempotency: "own",
        request: { login: "admin", password: "a long pass phrase", return_to: "/" },
        ...pageAnswers(200, 303, 401, 403, 422, 429),
      },
      async (input) => {
        const { account, ip, secure } = input;
        const { login = "", password = "", return_to } = input.body;
        const returnTo = safePath(return_to);
        const words = pageWords[languageOf(input.request)];
        const mistake = originMistake(input);
        // The page repeats nothing that another site sent.
        if (mistake !== undefined)
          return page(403, input, { returnTo: "/", error: filledIn(words.refused, { reason: mistake }) });
        const shown = { returnTo, login: login.slice(0, maxChars) };
        if (login.trim() === "" || password === "") return page(422, input, { ...shown, error: words.bothFields });
        if (login.length > maxChars || password.length > 1000)
          return page(401, input, { ...shown, error: words.wrong });
        try {
          const userId = await personOf(ctx, { accountId: account.id, ip, login: login.trim(), password });
          const step = await beginStep(ctx, { accountId: account.id, userId });
          if (step) return await secondForm(ctx, 200, input, { returnTo, pending: step.pending }, step.factors);
          return await input.once(`sign-in:${userId}`, async () => {
            const { token, expiresAt } = await startSession(ctx, input, userId);
            return secret(redirect(303, returnTo, { "set-cookie": sessionCookieOf(token, expiresAt, secure) }));
          });
        } catch (error) {
          if (!(error instanceof HttpError)) throw error;
          if (error.status === 401) return page(401, input, { ...shown, error: words.wrong });
          if (error.status !== 429) throw error;
          const wait = error.headers["retry-after"] ?? "1";
          return page(429, input, { ...shown, error: waitText(words, wait) }, { "retry-after": wait });
        }
      },
    ),
  ];
}

/** The page to sign out by, which needs no scripts. */
export function logoutRoutes(ctx: SessionsContext): Route[] {
  const headers = pageHeaders(ctx.styleHash);
  return [
    route(
      "GET",
      "/logout",
      {
        summary: "A page with a button to sign out",
        access: { open: "without a session it leads to the sign-in page" },
        ...pageAnswers(200, 303),
      },
      ({ account, caller, request }) => {
        if (!caller?.viaCookie) return redirect(303, "/login", { "cache-control": "no-store" });
        const person = caller.user.name || caller.user.login;
        return text(200, logoutPage(pageWords[languageOf(request)], account.name, person), htmlType, headers);
      },
    ),
    route(
      "POST",
      "/logout",
      {
        summary: "Sign out and go to the sign-in page",
        description:
          "Whoever signed in by a provider where they are to be signed out too gets a page that leads there (200).",
        access: { open: "without a session there is nothing to end" },
        ...pageAnswers(200, 303),
      },
      async (input) => {
        const { account, caller, request, secure } = input;
        // Another site's form comes without the cookie, and must not take it away either.
        if (originMistake(input) !== undefined) return redirect(303, "/logout");
        const words = pageWords[languageOf(request)];
        const next = caller?.viaCookie ? await leave(ctx, caller, words.language) : undefined;
        const cookie = { "set-cookie": endedCookie(secure) };
        if (!next) return redirect(303, "/login", cookie);
        // No redirect: to browsers it would be a target of the form, which the page's policy keeps here.
        const more = { ...cookie, refresh: `0; url=${next.href}`, "referrer-policy": "no-referrer" };
        return secret(text(200, signedOutPage(words, account.name, next), htmlType, { ...headers, ...more }));
      },
    ),
  ];
}

/** Other ways to sign in, below the form. */
async function linksOf(
  ctx: SessionsContext,
  account: Account,
  language: Language,
  state: SignInForm,
): Promise<PageLink[]> {
  const { returnTo, again = false } = state;
  const [canMail, hasPasskeys, byProviders] = await Promise.all([
    ctx.mail.isSetUp(account.id),
    ctx.factors.hasPasskeys(account.id),
    ctx.later.providers.loginLinks(account, language, { returnTo, again }),
  ]);
  const passkey = `/login/passkey?return_to=${encodeURIComponent(returnTo)}`;
  return [
    ...(hasPasskeys ? [{ href: passkey, label: secondWords[language].passkey }] : []),
    ...(canMail ? [{ href: "/forgot_password", label: pageWords[language].forgot }] : []),
    ...byProviders,
  ];
}

const htmlType = "text/html; charset=utf-8";

type Visit = Pick<RequestInput, "account" | "request">;
interface SignInForm {
  readonly returnTo: string;
  readonly again?: boolean;
  readonly login?: string;
  readonly error?: string;
}

const maxChars = 255;

/** What follows when another plugin has found out who somebody is. */
import { redirect, secret } from "platform";
import type { Sessions } from "./api.ts";
import { sessionCookieOf } from "./cookie.ts";
import { safePath } from "./return-to.ts";
import type { SecondPages } from "./second-page-routes.ts";
import type { SecondStep } from "./second-step.ts";
import type { SignIn } from "./sign-in.ts";

interface Needed {
  readonly signIn: SignIn;
  readonly second: SecondStep;
  readonly pages: SecondPages;
}

export function createAdmit({ signIn, second, pages }: Needed): Sessions["admit"] {
  return async (input, { userId, returnTo: given, isSecond, origin }) => {
    const returnTo = safePath(given);
    const step = isSecond ? undefined : await second.begin({ accountId: input.account.id, userId }, { origin });
    if (step) return pages.form(200, input, { returnTo, pending: step.pending }, step.factors);
    const { token, expiresAt } = await signIn.start(input, userId, { origin });
    const headers = { "cache-control": "no-store", "referrer-policy": "no-referrer" };
    const cookie = sessionCookieOf(token, expiresAt, input.secure);
    return secret(redirect(303, returnTo, { ...headers, "set-cookie": cookie }));
  };
}

/** The pages to ask for a new password and to set one: plain HTML that works without scripts. */
import { type Account, escapeHtml, filledIn, type Language, languageOf } from "platform";
import { linkLine, page, type PageLink } from "../sessions/api.ts";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

export type PasswordWords = Readonly<typeof en> & { readonly language: Language };

const allWords: Readonly<Record<Language, PasswordWords>> = {
  en: { ...en, language: "en" },
  pl: { ...pl, language: "pl" },
  de: { ...de, language: "de" },
};

export const wordsOf = ({ request }: { readonly request: Request }): PasswordWords => allWords[languageOf(request)];

type NamedAccount = Pick<Account, "name">;

export function forgotPage(
  words: PasswordWords,
  { name }: NamedAccount,
  { login = "", error }: { login?: string; error?: string } = {},
): string {
  const form = `<form method="post" action="/forgot_password">
<label for="login">${words.login}</label>
<input id="login" name="login" value="${escapeHtml(login)}" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="255" required${described(error)} autofocus>
<button type="submit">${words.send}</button>
</form>`;
  const content = [alert(error), `<p>${words.forgotText}</p>`, form, toSignIn(words)];
  return page(words, words.forgot, name, content.join("\n"));
}

/** A message and the way back to the sign-in page. */
export function saidPage(words: PasswordWords, { name }: NamedAccount, title: string, said: string): string {
  return page(words, title, name, [`<p role="status">${said}</p>`, toSignIn(words)].join("\n"));
}

export function endedPage(words: PasswordWords, { name }: NamedAccount, canAsk: boolean): string {
  const again = canAsk ? linkLine({ href: "/forgot_password", label: words.forgot }) : "";
  return page(words, words.ended, name, [`<p role="alert">${words.endedText}</p>`, again, toSignIn(words)].join("\n"));
}

interface PasswordForm {
  readonly login: string;
  /** The least length. */
  readonly least: number;
  readonly error?: string | undefined;
  /** Other ways than a password. */
  readonly links: readonly PageLink[];
}

export function passwordPage(
  words: PasswordWords,
  { name }: NamedAccount,
  { login, least, error, links }: PasswordForm,
): string {
  const form = `<form method="post" action="/set_password">
<p>${filledIn(words.setFor, { login: escapeHtml(login) })}</p>
<input type="text" name="login" value="${escapeHtml(login)}" autocomplete="username" readonly hidden>
<label for="password">${words.password}</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="${least}" maxlength="1000" required aria-describedby="rule${error ? " error" : ""}"${error ? ' aria-invalid="true"' : ""} autofocus>
<p id="rule" class="account">${filledIn(words.rule, { least })}</p>
<button type="submit">${words.save}</button>
</form>`;
  return page(words, words.set, name, [alert(error), form, ...links.map(linkLine)].join("\n"));
}

interface ConfirmForm {
  readonly login: string;
  readonly email: string;
  readonly token: string;
}

export function confirmPage(
  words: PasswordWords,
  { name }: NamedAccount,
  { login, email, token }: ConfirmForm,
): string {
  const form = `<form method="post" action="/confirm_email">
<p>${filledIn(words.confirmText, { email: escapeHtml(email), login: escapeHtml(login) })}</p>
<input type="hidden" name="token" value="${escapeHtml(token)}">
<button type="submit">${words.confirmIt}</button>
</form>`;
  return page(words, words.confirm, name, form);
}

const alert = (error: string | undefined) => (error ? `<p id="error" role="alert">${escapeHtml(error)}</p>` : "");
const described = (error: string | undefined) => (error ? ' aria-invalid="true" aria-describedby="error"' : "");
const toSignIn = ({ signIn }: PasswordWords) => linkLine({ href: "/login", label: signIn });

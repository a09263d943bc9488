/** The pages to sign in and out by: plain HTML that works without scripts. */
import { escapeHtml, filledIn, type Language } from "platform";
import loginStyle from "./page.css" with { type: "text" };
import type { PageWords } from "./words.ts";

export interface PageState {
  readonly words: PageWords;
  readonly accountName: string;
  readonly returnTo: string;
  readonly login?: string;
  readonly error?: string;
  /** Below the form. */
  readonly links?: readonly PageLink[];
  readonly brand?: Brand;
}

/** The account's own looks. */
interface Brand {
  /** The address of its logo. */
  readonly logo: string | undefined;
  /** That of the page, in its accent: as `styleOf` writes it. */
  readonly style: string;
}

export interface PageLink {
  readonly href: string;
  readonly label: string;
  /** Another way to sign in. */
  readonly isButton?: boolean;
}

export function loginPage({ words, accountName, returnTo, login = "", error, links = [], brand }: PageState): string {
  const alert = error ? `<p id="error" role="alert">${escapeHtml(error)}</p>` : "";
  const described = error ? ' aria-invalid="true" aria-describedby="error"' : "";
  // Focus the first field that is still empty.
  const [first, second] = login === "" ? [" autofocus", ""] : ["", " autofocus"];
  const form = `<form method="post" action="/login">
<input type="hidden" name="return_to" value="${escapeHtml(returnTo)}">
<label for="login">${words.login}</label>
<input id="login" name="login" value="${escapeHtml(login)}" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="255" required${described}${first}>
<label for="password">${words.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="1000" required${described}${second}>
<button type="submit">${words.signIn}</button>
</form>`;
  return page(words, words.signIn, accountName, [alert, form, ...links.map(linkLine)].join("\n"), brand);
}

/** Showing it changes nothing: a link, or a browser that prefetches pages, must not sign anybody out. */
export function logoutPage(words: PageWords, accountName: string, person: string): string {
  const form = `<form method="post" action="/logout">
<p>${filledIn(words.signedInAs, { person: escapeHtml(person) })}</p>
<button type="submit" autofocus>${words.signOut}</button>
</form>`;
  return page(words, words.signOut, accountName, form);
}

/** Leads on by itself; the link is for browsers that do not. */
export function signedOutPage(words: PageWords, accountName: string, next: PageLink): string {
  const content = `<p role="status">${words.signedOutHere}</p>\n${linkLine({ ...next, isButton: true })}`;
  return page(words, words.signedOut, accountName, content);
}

export function linkLine({ href, label, isButton }: PageLink): string {
  const look = isButton ? ' class="button"' : "";
  return `<p class="more"><a${look} href="${escapeHtml(href)}">${escapeHtml(label)}</a></p>`;
}

/** A page that looks like the one to sign in by. `title` and `content` are HTML. */
export function page(
  { language }: { readonly language: Language },
  title: string,
  accountName: string,
  content: string,
  brand?: Brand,
): string {
  const name = escapeHtml(accountName);
  const logo = brand?.logo === undefined ? "" : `<img class="logo" src="${escapeHtml(brand.logo)}" alt="">`;
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} – ${name}</title>
<style>${brand?.style ?? loginStyle}</style>
</head>
<body>
<main>
<p class="account">${logo}${name}</p>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`;
}

/** An account's accent is its hue and its strength. Their lightness is ours, so that what is written on it can be read. */
export const styleOf = (hue: number, chroma: number): string =>
  `${loginStyle}:root { --brand-h: ${hue}; --brand-c: ${chroma} }\n`;

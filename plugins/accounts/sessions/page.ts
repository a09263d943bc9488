/** The pages to sign in and out by: plain HTML that works without scripts. */
import { escapeHtml, filledIn, type Language } from "platform";
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

/** The page's only style; the Content-Security-Policy contains its hash. */
export const loginStyle = `
:root { color-scheme: light dark; --brand-h: 178; --brand-c: .078; --ink: light-dark(#1f1e1a, #efede7);
  --soft: light-dark(#55524a, #bdb9ae); --paper: light-dark(#f8f7f4, #131312); --card: light-dark(#fff, #21211e);
  --line: light-dark(#8a8578, #827e72); --on-accent: light-dark(#fff, #141412); --wrong: light-dark(#b02a20, #ff9f93);
  --wrong-paper: light-dark(#fdebe8, #3b1d1a);
  --accent: light-dark(oklch(.45 var(--brand-c) var(--brand-h)), oklch(.8 calc(var(--brand-c) * 1.1) var(--brand-h))) }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem;
  background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 23rem; padding: 2rem; background: var(--card); border-radius: 12px;
  box-shadow: 0 1px 2px rgb(0 0 0 / .12), 0 12px 40px rgb(0 0 0 / .1) }
h1 { margin: .35rem 0 1.4rem; font-size: 1.5rem; font-weight: 600; line-height: 1.25; letter-spacing: -.02em }
.account { display: flex; gap: .7rem; align-items: center; margin: 0; color: var(--soft); overflow-wrap: anywhere }
.logo { max-width: 9rem; height: 2.25rem; margin: 0; border-radius: 9px }
label { display: block; margin: 0 0 .3rem; font-size: .875rem; font-weight: 500; color: var(--soft) }
input { width: 100%; margin: 0 0 1.1rem; padding: .6rem .7rem; font: inherit; color: inherit; background: transparent;
  border: 1px solid var(--line); border-radius: 6px }
button { width: 100%; margin-top: .3rem; padding: .65rem; font: inherit; font-weight: 500; color: var(--on-accent);
  background: var(--accent); border: 0; border-radius: 6px; cursor: pointer }
button:hover { filter: brightness(1.08) }
a.button { display: block; padding: .6rem; text-align: center; text-decoration: none; font-weight: 500; color: inherit;
  overflow-wrap: anywhere; border: 1px solid var(--line); border-radius: 6px }
input:focus-visible, button:focus-visible, a.button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
.more { margin: 1.1rem 0 0 }
.more + form, .more + #error { margin-top: 1.4rem }
.codes { margin: 0; padding: .7rem 1rem; list-style: none; background: var(--paper); border-radius: 6px }
code { font: .95rem/1.6 ui-monospace, monospace; overflow-wrap: anywhere; user-select: all }
img:not(.logo) { display: block; margin: 0 auto; background: #fff; border-radius: 6px }
a { color: var(--accent) }
#error { margin: 0 0 1.2rem; padding: .6rem .8rem; color: var(--wrong); background: var(--wrong-paper); border-radius: 6px }
`;

/** The pages of the second step, which work without scripts as the first one does, and the page of passkeys, which needs one. */
import { escapeHtml } from "platform";
import type { FactorKind, TotpSetup } from "../factors/api.ts";
import { linkLine, page } from "./page.ts";
import type { PageWords, SecondWords } from "./words.ts";

interface SecondState {
  readonly words: PageWords;
  readonly more: SecondWords;
  readonly accountName: string;
  readonly returnTo: string;
  readonly pending: string;
  readonly error?: string;
  readonly factors: readonly FactorKind[];
  /** For somebody who has no factor yet. */
  readonly totp?: TotpSetup;
}

export function secondPage({ words, more, accountName, returnTo, pending, error, factors, totp }: SecondState): string {
  const alert = error ? `<p id="error" role="alert">${escapeHtml(error)}</p>` : "";
  const described = error ? ' aria-invalid="true" aria-describedby="error"' : "";
  const setup = totp ? `<input type="hidden" name="setup" value="${escapeHtml(totp.setup)}">` : "";
  const toLogin = `/login?return_to=${encodeURIComponent(returnTo)}`;
  const form = `<form method="post" action="/login/second_factor">
<input type="hidden" name="return_to" value="${escapeHtml(returnTo)}">
<input type="hidden" name="pending" value="${escapeHtml(pending)}">
${setup}<label for="code">${more.code}</label>
<input id="code" name="code" inputmode="${totp ? "numeric" : "text"}" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="100" required${described} autofocus>
<button type="submit">${more.goOn}</button>
</form>
${linkLine({ href: toLogin, label: more.startAgain })}`;
  const lead = totp ? shownSetup(more, totp) : shownFactors(more, factors, returnTo);
  return page(words, totp ? more.setUp : more.title, accountName, `${lead}\n${alert}\n${form}`);
}

function shownFactors(more: SecondWords, factors: readonly FactorKind[], returnTo: string): string {
  if (!factors.includes("passkey")) return `<p>${more.text}</p>`;
  const href = `/login/passkey?return_to=${encodeURIComponent(returnTo)}`;
  const link = linkLine({ href, label: more.passkey, isButton: true });
  return `<p>${more.passkeyOrCode}</p>\n${link}`;
}

function shownSetup(more: SecondWords, { qr, secret }: TotpSetup): string {
  const picture = `data:image/svg+xml;base64,${new TextEncoder().encode(qr).toBase64()}`;
  return `<p>${more.setUpText}</p>
<img src="${picture}" alt="${more.picture}" width="220" height="220">
<p>${more.key}<br><code>${secret.replaceAll(/(.{4})/g, "$1 ").trim()}</code></p>`;
}

/** Shown once, by the answer that signs in. */
export function recoveryPage(
  { words, more, accountName, returnTo }: Omit<SecondState, "pending" | "factors">,
  codes: readonly string[],
): string {
  const items = codes.map((code) => `<li><code>${code}</code></li>`).join("\n");
  const content = `<p>${more.codesText}</p>
<ul class="codes">
${items}
</ul>
${linkLine({ href: returnTo, label: more.kept, isButton: true })}`;
  return page(words, more.codes, accountName, content);
}

type PasskeyState = Pick<SecondState, "words" | "more" | "accountName" | "returnTo">;

export function passkeyPage({ words, more, accountName, returnTo }: PasskeyState): string {
  const content = `<p>${more.passkeyText}</p>
<p id="error" role="alert" hidden>${more.passkeyFailed}</p>
<noscript><p>${more.needsScript}</p></noscript>
<button type="button" data-return-to="${escapeHtml(returnTo)}" autofocus>${more.passkey}</button>
<p class="more"><a href="/login?return_to=${encodeURIComponent(returnTo)}">${more.byPassword}</a></p>
<script>${passkeyScript}</script>`;
  return page(words, words.signIn, accountName, content);
}

/** The page's only script; the Content-Security-Policy contains its hash. */
export const passkeyScript = `
const button = document.querySelector("button");
const problem = document.querySelector("#error");
const post = (path, body) =>
  fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
button.addEventListener("click", async () => {
  problem.hidden = true;
  button.disabled = true;
  try {
    const options = await (await post("/account/session/passkey/options.json", {})).json();
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
    const { id, response } = (await navigator.credentials.get({ publicKey })).toJSON();
    const answer = await post("/account/session/passkey.json", { id, response });
    if (answer.status !== 201) throw new Error((await answer.json()).error);
    location.assign(button.dataset.returnTo);
  } catch {
    problem.hidden = false;
    button.disabled = false;
  }
});
`;

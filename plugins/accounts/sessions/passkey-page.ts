/** The page to sign in by a passkey, which needs a script. */
import { escapeHtml } from "platform";
import { page } from "./page.ts";
import type { SecondWords } from "./second-words.ts";
import type { PageWords } from "./words.ts";

interface State {
  readonly words: PageWords;
  readonly more: SecondWords;
  readonly accountName: string;
  readonly returnTo: string;
}

export function passkeyPage({ words, more, accountName, returnTo }: State): string {
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

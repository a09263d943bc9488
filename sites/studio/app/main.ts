/** The Studio begins here: language, theme, who is signed in, then the frame. */
import { mount } from "svelte";
import App from "./App.svelte";
import { begin as beginKeyboard } from "./keyboard/focus.ts";
import { theme } from "./frame/theme.ts";
import { looks } from "./state/looks.svelte.ts";
import { router } from "./state/router.svelte.ts";
import { session } from "./state/session.svelte.ts";
import { shortcuts } from "./state/shortcuts.svelte.ts";
import { text } from "./state/text.svelte.ts";
import { toasts } from "./state/toasts.svelte.ts";

theme.begin();
looks.begin();
router.begin();
beginKeyboard();
shortcuts.begin();
toasts.begin();
void start();

/** No module waits for it: what it loads on the way imports this one. */
async function start(): Promise<void> {
  await Promise.all([text.begin(), session.begin()]);
  mount(App, { target: document.body });
  // The drafts of earlier days are looked after once there are any.
  if (!Object.keys(localStorage).some((name) => name.startsWith("corestead.draft"))) return;
  const { dropOldDrafts, sealDrafts } = await import("./forms/drafts.ts");
  sealDrafts(session.person.id);
  dropOldDrafts();
}

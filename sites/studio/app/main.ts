/** The Studio begins here: language, theme, who is signed in, then the frame. */
import { mount } from "svelte";
import App from "./App.svelte";
import { dropOldDrafts, sealDrafts, writeDrafts } from "./forms/drafts.ts";
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
await Promise.all([text.begin(), session.begin()]);
sealDrafts(session.person.id);
dropOldDrafts();
addEventListener("pagehide", writeDrafts);
document.addEventListener("visibilitychange", () => document.hidden && writeDrafts());
mount(App, { target: document.body });

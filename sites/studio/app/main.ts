/** The Studio begins here: language, theme, who is signed in, then the frame. */
import { mount } from "svelte";
import App from "./App.svelte";
import { dropOldDrafts } from "./drafts.ts";
import { begin as beginKeyboard } from "./keyboard.ts";
import { pageStyles } from "./page-styles.ts";
import { router } from "./router.svelte.ts";
import { session } from "./session.svelte.ts";
import { shortcuts } from "./shortcuts.svelte.ts";
import { text } from "./text.svelte.ts";
import { theme } from "./theme.ts";
import { toasts } from "./toasts.svelte.ts";

theme.begin();
router.begin();
beginKeyboard();
shortcuts.begin();
toasts.begin();
dropOldDrafts();
await Promise.all([text.begin(), session.begin()]);
mount(App, { target: document.body });
void pageStyles();

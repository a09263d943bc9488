/** The Studio begins here: language, theme, who is signed in, then the frame. */
import { pages } from "studio:pages";
import { mount } from "svelte";
import { placeOf } from "./address.ts";
import App from "./App.svelte";
import { dropOldDrafts } from "./drafts.ts";
import { router } from "./router.svelte.ts";
import { session } from "./session.svelte.ts";
import { shortcuts } from "./shortcuts.svelte.ts";
import { text } from "./text.svelte.ts";
import { theme } from "./theme.ts";
import { toasts } from "./toasts.svelte.ts";

// The page's own file is fetched while the session is asked for.
const place = placeOf(location.pathname, [], pages);
if (place.kind === "page") place.page.load().catch(() => {});

theme.begin();
router.begin();
shortcuts.begin();
toasts.begin();
dropOldDrafts();
await Promise.all([text.begin(), session.begin()]);
mount(App, { target: document.body });

/**
 * Reloads the page, which brings a new token or leads to sign-in; false if it did so a moment ago.
 * The sandbox has no storage, so the history entry remembers when.
 */
export function reloadOnce(): boolean {
  // Read from `window`, because a classic script of the app may declare its own `let history`.
  const { history } = window;
  const state: unknown = history.state;
  const last = typeof state === "object" && state !== null && "coreReloadedAt" in state ? state.coreReloadedAt : 0;
  if (typeof last === "number" && Date.now() - last < 60_000) return false;
  history.replaceState({ coreReloadedAt: Date.now() }, "");
  location.reload();
  return true;
}

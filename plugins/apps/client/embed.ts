/** An embedded app reports its height to the surrounding page, which resizes the frame to match. */
export function reportHeight(appId: string): void {
  const { parent } = window;
  if (parent === window) return;
  let last = -1;
  const report = () => {
    const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    if (height === last) return;
    last = height;
    // The policy has `frame-ancestors 'self'`, so the surrounding page is one of ours.
    parent.postMessage({ type: "core:height", app: appId, height }, location.origin);
  };
  new ResizeObserver(report).observe(document.documentElement);
  addEventListener("load", report);
}

/** Whoever types in an embedded app opens the palette of the page around it by the same keys, unless the app uses them. */
export function forwardPaletteKeys(appId: string): void {
  const { parent } = window;
  if (parent === window) return;
  const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  const forward = (event: KeyboardEvent) => {
    const isPressed = event.key.toLowerCase() === "k" && (isMac ? event.metaKey : event.ctrlKey);
    if (!isPressed || event.altKey || event.shiftKey || event.defaultPrevented) return;
    event.preventDefault();
    parent.postMessage({ type: "core:palette", app: appId }, location.origin);
  };
  // The app's own listeners come first, wherever they are: this one is put behind them at each key.
  const putLast = () => {
    removeEventListener("keydown", forward);
    addEventListener("keydown", forward);
  };
  addEventListener("keydown", putLast, { capture: true });
}

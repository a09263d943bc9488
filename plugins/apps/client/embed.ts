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

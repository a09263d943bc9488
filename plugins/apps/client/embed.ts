/** An embedded app tells its height to the page around it, which makes the frame as high. */
export function reportHeight(appId: string): void {
  const { parent } = window;
  if (parent === window) return;
  let last = -1;
  const report = () => {
    const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    if (height === last) return;
    last = height;
    // `frame-ancestors 'self'`: the page around is one of our own.
    parent.postMessage({ type: "core:height", app: appId, height }, location.origin);
  };
  new ResizeObserver(report).observe(document.documentElement);
  addEventListener("load", report);
}

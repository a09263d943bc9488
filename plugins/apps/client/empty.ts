/** An app that mounts nothing shows an empty page, and no error says why. */

const pauseMs = 1000;

/** Calls `told` if the page shows nothing now, and `gone` if something appears later. */
export function watchEmpty(told: () => void, gone: () => void): void {
  // An `html` page has no element that an app is mounted into.
  if (document.getElementById("core-app") === null || showsSomething()) return;
  told();
  const timer = setInterval(() => {
    if (!showsSomething()) return;
    clearInterval(timer);
    gone();
  }, pauseMs);
}

function showsSomething(): boolean {
  const { body } = document;
  if (body.innerText.trim() !== "") return true;
  return [...body.querySelectorAll(":not(#core-app)")].some((element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 0 && height > 0;
  });
}

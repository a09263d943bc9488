/** Light, dark, or as the system: an attribute that style.css knows. */

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const storageKey = "corestead.theme";

export const theme = {
  begin(): void {
    show(this.chosen());
  },
  chosen(): Theme {
    return themes.find((one) => one === localStorage.getItem(storageKey)) ?? "system";
  },
  /** What that comes to just now. */
  shown(): "light" | "dark" {
    const chosen = this.chosen();
    if (chosen !== "system") return chosen;
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  },
  choose(wanted: Theme): void {
    localStorage.setItem(storageKey, wanted);
    show(wanted);
  },
};

function show(wanted: Theme): void {
  document.documentElement.dataset["theme"] = wanted;
}

const loading = new Map<string, Promise<void>>();

/**
 * Waits for the style of built-in plugins' pages: the document has it where it opens on one, else the first page gets it.
 * A page that is early waits for the first of the two files alone.
 */
export async function pageStyles(isEarly: boolean): Promise<void> {
  const [first = "", other = ""] = document.documentElement.dataset["pageStyles"]?.split(" ") ?? [];
  await Promise.all([styleAt(first), ...(isEarly ? [] : [styleAt(other)])]);
  if (isEarly) setTimeout(() => void styleAt(other));
}

/** At once, unless a style is on its way: then when it has come. */
export function onceStyled(run: () => void): void {
  if (loading.size === 0) run();
  else void Promise.all(loading.values()).then(run);
}

function styleAt(href: string): Promise<void> {
  const begun = loading.get(href);
  if (begun) return begun;
  const made = new Promise<void>((resolve) => {
    if (href === "" || document.querySelector(`link[href="${href}"]`)) return resolve();
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = href;
    link.addEventListener("load", () => resolve(), { once: true });
    link.addEventListener("error", () => resolve(), { once: true }); // a page without its style can be used
    document.head.append(link);
  });
  loading.set(href, made);
  void made.then(() => loading.delete(href));
  return made;
}

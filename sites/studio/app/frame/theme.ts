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

/** The style of the pages of built-in plugins: the document has it where it opens on one, else the first page gets it. */
let ready: Promise<void> | undefined;

export function pageStyles(): Promise<void> {
  ready ??= new Promise((resolve) => {
    const { pageStyle = "" } = document.documentElement.dataset;
    if (pageStyle === "" || document.querySelector(`link[href="${pageStyle}"]`)) return resolve();
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = pageStyle;
    link.addEventListener("load", () => resolve(), { once: true });
    link.addEventListener("error", () => resolve(), { once: true }); // a page without its style can be used
    document.head.append(link);
  });
  return ready;
}

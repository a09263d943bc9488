/** How this browser shows the Studio: how near rows are, how wide its side is, and whether letters alone are shortcuts. */

const names = { density: "corestead.density", rail: "corestead.rail", letters: "corestead.letters" } as const;

class Looks {
  density = $state<"comfortable" | "compact">("comfortable");
  rail = $state(false);
  /** WCAG 2.1.4: who speaks to a computer may switch them off. */
  letters = $state(true);

  begin(): void {
    if (localStorage.getItem(names.density) === "compact") this.flipDensity();
    this.rail = localStorage.getItem(names.rail) === "true";
    this.letters = localStorage.getItem(names.letters) !== "false";
  }

  flipDensity(): void {
    this.density = this.density === "compact" ? "comfortable" : "compact";
    localStorage.setItem(names.density, this.density);
    document.documentElement.dataset["density"] = this.density;
  }

  flipRail(): void {
    this.rail = !this.rail;
    localStorage.setItem(names.rail, String(this.rail));
  }

  flipLetters(): void {
    this.letters = !this.letters;
    localStorage.setItem(names.letters, String(this.letters));
  }
}

export const looks = new Looks();

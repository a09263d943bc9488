/** A person who has nothing but a keyboard. What gets the focus must be seen, and must look as if it had it. */
import type { Locator, Page } from "playwright-core";

type Role = Parameters<Page["getByRole"]>[0];

/** So many stops of Tab would make anybody give up. */
const mostStops = 90;

export class Keyboard {
  private readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  press = (...keys: string[]): Promise<void> => pressed(this.page, keys);
  type = (text: string): Promise<void> => this.page.keyboard.type(text);

  /** Presses Tab until the element has the focus; each stop on the way is looked at. */
  async tabTo(role: Role, name: string | RegExp, { back = false } = {}): Promise<Locator> {
    const wanted = this.page.getByRole(role, typeof name === "string" ? { name, exact: true } : { name });
    return this.tabToElement(wanted, { back });
  }

  async tabToElement(wanted: Locator, { back = false } = {}): Promise<Locator> {
    await wanted.first().waitFor();
    const stops: string[] = [];
    while (stops.length < mostStops) {
      // An editor keeps Tab to itself until Esc.
      if (await hasFocus(this.page.locator(".cm-content"))) await this.press("Escape");
      await this.press(back ? "Shift+Tab" : "Tab");
      let stop = await this.stop();
      // The editor marks itself a moment later.
      for (let look = 0; stop.fault && look < 20; look++) {
        await this.page.evaluate(() => new Promise(requestAnimationFrame));
        stop = await this.stop();
      }
      if (stop.fault) throw new Error(`${stop.fault}: ${stop.element}, after ${stops.slice(-3).join(", ")}`);
      stops.push(stop.element);
      if (await hasFocus(wanted)) return wanted;
    }
    throw new Error(
      `${String(wanted)} is not among ${stops.length} stops of Tab, at last ${stops.slice(-5).join("; ")}`,
    );
  }

  /** Tab to it, then Enter. */
  async enter(role: Role, name: string | RegExp, options?: { back?: boolean }): Promise<void> {
    await this.tabTo(role, name, options);
    await this.press("Enter");
  }

  /** Tab to a field, and types in place of what is in it. */
  async fill(role: Role, name: string | RegExp, text: string): Promise<void> {
    await this.tabTo(role, name);
    await this.press("Control+a");
    await this.type(text);
  }

  /** Tab to a list of choices, and types what begins one of them. */
  async choose(name: string, choice: string): Promise<void> {
    await this.tabTo("combobox", name);
    await this.type(choice);
  }

  /** Runs a command of the palette. */
  async command(words: string, name: RegExp | string = words): Promise<void> {
    await this.press("Control+k");
    const palette = this.page.getByRole("dialog", { name: "Find or do" });
    await palette.waitFor();
    await this.type(words);
    await palette.getByRole("option", { name, selected: true }).waitFor();
    await this.press("Enter");
    await palette.waitFor({ state: "detached" });
  }

  /** What has the focus, and what is wrong with how it looks. */
  private stop(): Promise<{ readonly element: string; readonly fault: string }> {
    return this.page.evaluate(() => {
      const active = document.activeElement;
      if (!active || active === document.body) return { element: "the page", fault: "" };
      const element = active.outerHTML.slice(0, 90);
      if (!active.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
        return { element, fault: "What has the focus is not shown" };
      const { left, right, top, bottom } = active.getBoundingClientRect();
      const [x0, x1] = [Math.max(0, left), Math.min(innerWidth, right)];
      const [y0, y1] = [Math.max(0, top), Math.min(innerHeight, bottom)];
      if (x1 - x0 < 1 || y1 - y0 < 1) return { element, fault: "What has the focus is outside of the window" };
      const isSeen = [0.5, 0.1, 0.9].some((part) => {
        const hit = document.elementFromPoint(x0 + (x1 - x0) * part, y0 + (y1 - y0) * part);
        return hit !== null && (active.contains(hit) || (hit.contains(active) && hit !== document.body));
      });
      if (!isSeen) return { element, fault: "What has the focus is covered" };
      // An app has a document of its own.
      if (active instanceof HTMLIFrameElement) return { element, fault: "" };
      const around = [active, active.parentElement, active.closest(".cm-editor")];
      const isMarked = around.some((one) => {
        if (!one) return false;
        const { outlineStyle, outlineWidth } = getComputedStyle(one);
        return outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2;
      });
      return { element, fault: isMarked ? "" : "What has the focus is not marked" };
    });
  }
}

export function hasFocus(wanted: Locator): Promise<boolean> {
  return wanted.evaluateAll((found) => found.some((one) => one === document.activeElement));
}

async function pressed({ keyboard }: Page, keys: readonly string[]): Promise<void> {
  for (const key of keys) await keyboard.press(key);
}

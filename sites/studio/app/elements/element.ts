/** An element of the kit for pages that are not written in Svelte: a component inside, its properties outside. */
import { mount, unmount, type Component } from "svelte";

export abstract class StudioElement extends HTMLElement {
  protected abstract readonly component: Component<Record<string, unknown>>;
  /** Reactive: what it shows follows. */
  protected abstract readonly props: Record<string, unknown>;
  /** Where the component goes. */
  protected get place(): Element | ShadowRoot {
    return this;
  }
  #mounted: Record<string, unknown> | undefined;

  connectedCallback(): void {
    this.#mounted ??= mount(this.component, { target: this.place, props: this.props });
  }

  disconnectedCallback(): void {
    const mounted = this.#mounted;
    this.#mounted = undefined;
    if (mounted) void unmount(mounted);
  }

  /** Makes the component anew: a form that was reset has emptied the browser's own controls in it. */
  protected showAnew(): void {
    this.disconnectedCallback();
    if (this.isConnected) this.connectedCallback();
  }

  override focus(options?: FocusOptions): void {
    const control = this.place.querySelector<HTMLElement>(
      "input, select, textarea, [contenteditable=true], [tabindex='0'], button",
    );
    control?.focus(options);
  }

  /** What the component exports. */
  protected get exported(): Record<string, unknown> {
    return this.#mounted ?? {};
  }

  protected tell(type: string, detail: unknown = null): void {
    this.dispatchEvent(new CustomEvent(type, { bubbles: true, detail }));
  }
}

/** Props of a component that it reads as they are just now; `others` stay the same. */
export function reading(
  getters: Readonly<Record<string, () => unknown>>,
  others: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const described = Object.entries(getters).map(([name, get]) => [name, { get, enumerable: true }] as const);
  return Object.defineProperties({ ...others }, Object.fromEntries(described));
}

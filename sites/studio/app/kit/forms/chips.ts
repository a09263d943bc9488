/** What a box of chips offers for what is typed into it. */
import { tick } from "svelte";
import type { Choice } from "../../resources/lookup.ts";

const most = 50;

/** Not those that are chosen already; each word must be found. */
export function fitting(options: readonly Choice[], chosen: readonly string[], typed: string): readonly Choice[] {
  const wanted = typed.toLowerCase().split(" ").filter(Boolean);
  const fits = ({ value, label }: Choice) =>
    !chosen.includes(value) && wanted.every((word) => label.toLowerCase().includes(word));
  return options.filter(fits).slice(0, most);
}

export type Key = Pick<KeyboardEvent, "key" | "shiftKey">;

/** Presses these keys where the focus is, one after the other: it may move with each. */
export async function press(keys: readonly Key[]): Promise<void> {
  for (const { key, shiftKey } of keys) {
    await tick();
    const event = new KeyboardEvent("keydown", { key, shiftKey, bubbles: true, cancelable: true });
    if (!document.activeElement?.dispatchEvent(event) || key.length > 1) continue;
    const input = document.activeElement;
    if (!(input instanceof HTMLInputElement || input instanceof HTMLTextAreaElement)) continue;
    input.setRangeText(key, input.selectionStart ?? 0, input.selectionEnd ?? 0, "end");
    input.dispatchEvent(new InputEvent("input", { bubbles: true, data: key, inputType: "insertText" }));
  }
}

import { catalogue, session, text } from "studio";
import type { Placement } from "./place.ts";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

export const { say, texts } = catalogue(en, pl, de);

/** Where an app appears, in sentences. */
export function placeSaid({ module, view, home }: Placement): readonly string[] {
  const page = session.pages.find((one) => one.view === view)?.title[text.language];
  const said = [
    module !== undefined && say("placeModule", { place: text.module(module) }),
    view !== undefined && say("placeView", { place: page ?? view }),
    home !== "None" && say(home === "Own" ? "placeTile" : "placeHome"),
  ].filter((one) => typeof one === "string");
  return said.length > 0 ? said : [say("placeNone")];
}

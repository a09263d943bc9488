import { catalogue } from "studio";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

export const { say } = catalogue(en, pl, de);

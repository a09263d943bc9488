import { definePlugin } from "platform";
import { probeRoutes } from "./routes.ts";

/** Answers `corestead doctor`, which asks the running server what of its requests arrives. */
export default definePlugin({ name: "doctor", setup: (ctx) => ({ routes: probeRoutes(ctx) }) });

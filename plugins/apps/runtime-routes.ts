import type { Route } from "platform";
import type { AppRuntimes } from "./runtimes.ts";

export function runtimeRoutes(_runtimes: AppRuntimes): Route[] {
  throw new Error("not there yet");
}

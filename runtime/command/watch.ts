/** `serve --watch`: new server processes when a plugin of PLUGINS_DIR changes, for those who write one. */
import { watch } from "node:fs";
import { resolve } from "node:path";
import type { Log } from "../log.ts";
import type { Workers } from "./workers.ts";

/** An editor saves several files at once, and some write each in several steps. */
const settleMs = 150;

/** Gives back how to end it. Throws where there is no such folder. */
export function watchPlugins(folder: string, workers: Workers, log: Log): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let replacing: Promise<void> = Promise.resolve();
  const replace = async () => {
    try {
      await workers.replace();
      log.info("the plugins have changed and are served as they are now");
    } catch (error) {
      // What is wrong stands above: the new process has said it.
      log.warn("the plugins have changed and do not start: they are served as they were", { error });
    }
  };
  const watcher = watch(resolve(folder), { recursive: true }, (_kind, name) => {
    if (name !== null && isAside(name)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      replacing = replacing.then(replace);
    }, settleMs);
  });
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}

/** Tests, types, packages and what an editor keeps are no part of what is served. */
function isAside(path: string): boolean {
  return (
    path.split("/").some((name) => name.startsWith(".") || name === "node_modules") ||
    /(\.test\.ts|\.d\.ts|~)$/.test(path)
  );
}

/** `serve --watch`, for plugin authors: replaces the server processes when a plugin of PLUGINS_DIR changes. */
import { watch } from "node:fs";
import { resolve } from "node:path";
import type { Log } from "../../system/log.ts";
import type { Workers } from "./workers.ts";

/** Editors save several files at once, and some write a file in several steps. */
const settleMs = 150;

/** Returns a function that stops watching. Throws if there is no such folder. */
export function watchPlugins(folder: string, workers: Workers, log: Log): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let replacing: Promise<void> = Promise.resolve();
  const replace = async () => {
    try {
      await workers.replace();
      log.info("the plugins have changed and were reloaded");
    } catch (error) {
      // The new process has already printed what is wrong.
      log.warn("the changed plugins do not start: the earlier version is still served", { error });
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

/** Tests, types, packages and editors' own files are not served. */
function isAside(path: string): boolean {
  return (
    path.split("/").some((name) => name.startsWith(".") || name === "node_modules") ||
    /(\.test\.ts|\.d\.ts|~)$/.test(path)
  );
}

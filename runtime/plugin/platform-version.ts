import { host } from "#host";
import manifest from "../../package.json" with { type: "json" };
import { satisfies } from "../base/versions.ts";

/**
 * The semantic version of "platform": what a plugin with `platform: "^1"` can rely on. It covers a plugin's imports,
 * `ctx` and the shapes of `definePlugin`, not the HTTP API and the database.
 */
export const platformVersion = "1.0.0";

/** What `--version` prints. */
export const versionText = `corestead ${manifest.version} (platform ${platformVersion}, ${host.name}, ${process.platform}-${process.arch})`;

const rangeForm = /^[\^~]?\d{1,6}(\.\d{1,6}){0,2}$/;

/** Why a plugin with this `platform` cannot run here, or undefined. `version` is that of "platform". */
export function platformMismatch(range: string | undefined, version = platformVersion): string | undefined {
  if (range === undefined) return undefined;
  if (!rangeForm.test(range)) return `platform: "${range}" is not a version like "^1" or "~1.2"`;
  if (satisfies(version, range)) return undefined;
  return `it needs platform ${range}, and this Corestead has ${version}: install versions that fit together`;
}

/** Writes the README's table of settings from the settings themselves: `bun scripts/readme.ts`. */
import { plugins } from "../plugins/index.ts";
import { runtimeSettings } from "../runtime/config.ts";
import type { Setting } from "../runtime/settings.ts";

const file = `${import.meta.dir}/../README.md`;
const place = /(<!-- configuration: bun scripts\/readme\.ts -->\n)[^]*?(<!-- \/configuration -->)/;

/** The README with the present settings. */
export async function readmeWithSettings(): Promise<string> {
  const text = await Bun.file(file).text();
  if (!place.test(text)) throw new Error("README.md has no place for the settings");
  return text.replace(place, (_, before: string, after: string) => `${before}\n${table()}\n\n${after}`);
}

function table(): string {
  const settings: Setting<unknown>[] = [runtimeSettings, ...plugins.map(({ config }) => config)].flatMap(Object.values);
  const rows = settings.map(({ env, standard, doc }) => [`\`${env}\``, standard && `\`${standard}\``, doc]);
  const lines = [["Variable", "Default", "Meaning"], ...rows];
  const widths = [0, 1, 2].map((at) => Math.max(...lines.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const [head = [], ...body] = lines;
  return [line(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...body.map(line)].join("\n");
}

if (import.meta.main) await Bun.write(file, await readmeWithSettings());

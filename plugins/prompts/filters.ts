import type { LiquidFilter } from "platform";

/** `prompt_url` and `api_block` for one rendering: the account's address and the reader's token are in them. behaviour 2.1. */
export function promptFilters(baseUrl: string, token: string) {
  const urlOf = (code: string) => `${baseUrl}/core/prompt/${encodeURIComponent(code)}.md`;
  return {
    prompt_url: (value) => {
      const [code] = codesOf(value);
      return code === undefined ? "" : urlOf(code);
    },
    api_block: (value) => {
      const instructions = codesOf(value).map((code) => `Instrukcje API: ${urlOf(code)}`);
      return [
        ...instructions,
        `Zasady API: ${urlOf("common_api")}`,
        `Host: ${baseUrl}`,
        `Authorization: Bearer ${token}`,
      ].join("\n");
    },
  } satisfies Record<string, LiquidFilter>;
}

/** For templates other than prompts that use one of the two. */
export const outsidePrompts: LiquidFilter = () => {
  throw new Error("this filter works in prompts only");
};

const maxCodes = 50;

/** `"apps_api, dbs_api"` or a list of codes. */
function codesOf(value: unknown): string[] {
  const parts: unknown[] = Array.isArray(value) ? value : typeof value === "string" ? value.split(",") : [];
  const codes = parts.filter((part) => typeof part === "string").map((part) => part.trim());
  const given = codes.filter((code) => code !== "");
  if (given.length > maxCodes) throw new Error(`names more than ${maxCodes} prompts`);
  return given;
}

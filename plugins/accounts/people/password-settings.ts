import { setting } from "platform";

/** What each account decides for itself; only administrators change it. */
export const passwordSettings = {
  minLength: setting.adminOnly(
    setting.integer("password_min_length", 8, "Least characters of a new password", { min: 8, max: 128 }),
  ),
  breachedUrl: setting.adminOnly(
    setting.checked(
      "breached_passwords_url",
      "",
      "List of stolen passwords that new ones are looked up in, by the first 5 digits of their SHA-1, e.g. https://api.pwnedpasswords.com/range/; empty = none",
      rangeAddress,
    ),
  ),
};

function rangeAddress(text: string): string {
  if (text === "") return "";
  const url = URL.parse(text);
  if (!url || !["http:", "https:"].includes(url.protocol))
    throw new Error("must be an http or https address, or empty");
  return text.endsWith("/") ? text : `${text}/`;
}

/** The hosts that an account's apps may show pictures, fonts, styles and media of. */
import { setting } from "platform";

const mostOrigins = 20;

/** Only administrators change it: an app can tell such a host what it knows about its viewer. */
export const accountSettings = {
  origins: setting.adminOnly(
    setting.checked(
      "app_origins",
      "",
      "Origins that apps may show pictures, fonts, styles and media of, separated by commas, e.g. https://cdn.example.com",
      originsIn,
    ),
  ),
};

/** Throws if the text is no list of https origins. */
export function originsIn(text: string): readonly string[] {
  const origins = text
    .split(",")
    .flatMap((part) => part.trim() || [])
    .map(originOf);
  if (origins.length > mostOrigins) throw new Error(`must have at most ${mostOrigins} origins`);
  return [...new Set(origins)];
}

function originOf(text: string): string {
  const url = URL.parse(text);
  // Nothing else may come into a policy.
  if (
    url &&
    /^https:\/\/[a-z0-9.-]+(?::\d+)?$/.test(url.origin) &&
    url.href === `${url.origin}/` &&
    !text.endsWith("/")
  )
    return url.origin;
  throw new Error(`has "${text.slice(0, 50)}", which is no origin like https://cdn.example.com`);
}

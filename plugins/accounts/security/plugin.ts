import { definePlugin, setting } from "platform";
import { securityRoutes } from "./routes.ts";

/** Receives browsers' reports of broken page policies, and says whom to tell about a security problem. */
export default definePlugin({
  name: "security",
  config: {
    contact: setting.checked(
      "SECURITY_CONTACT",
      "",
      "Whom to tell of a security problem, e.g. `mailto:security@example.com`: shown at `/.well-known/security.txt`",
      parseContact,
    ),
  },

  setup(ctx) {
    return { routes: securityRoutes(ctx, ctx.config.contact) };
  },
});

function parseContact(text: string): string {
  if (text !== "" && (!/^(?:mailto:|https:\/\/|tel:)[\x21-\x7e]+$/.test(text) || text.length > 500))
    throw new Error("must be an address that begins with mailto:, https:// or tel:");
  return text;
}

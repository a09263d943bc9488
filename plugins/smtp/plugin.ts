import { definePlugin } from "platform";
import { connectors } from "../connectors/api.ts";
import { smtpConnector } from "./connector.ts";

/** The connector kind `core/smtp`: sends mails through a mail server. behaviour B.9. */
export default definePlugin({
  name: "smtp",
  needs: { connectors },

  setup(ctx) {
    ctx.services.connectors.register(smtpConnector(ctx));
    return {};
  },
});

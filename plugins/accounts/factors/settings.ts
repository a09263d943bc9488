import { setting } from "platform";

/** Who must have a second factor; only administrators change it. */
export const factorSettings = {
  requiredFor: setting.adminOnly(
    setting.oneOf(
      "second_factor",
      "optional",
      "Who must have a second factor, and sets one up at the next sign-in: optional (nobody), admins or everybody",
      ["optional", "admins", "everybody"],
    ),
  ),
};

/** How an account shows itself: its name, its logo, and the two numbers of which every accent is made. */
import { isUuid, setting } from "platform";

export const standardBrand = { hue: 178, chroma: 0.078 } as const;

/** What is read with the account itself, wherever it is named. */
export const nameSetting = "brand_name";

export const brandSettings = {
  name: setting.checked(nameSetting, "", "Name of the account; empty = the one that it was made with", (text) => {
    if (text !== text.trim() || text.length > 100 || /\p{Cc}/u.test(text))
      throw new Error("must be a line of at most 100 characters, without blanks around it");
    return text;
  }),
  logo: setting.checked("brand_logo", "", "Logo of the account: the id of a picture among its files", (text) => {
    if (text !== "" && !isUuid(text)) throw new Error("must be the id of a file");
    return text;
  }),
  hue: setting.checked("brand_hue", `${standardBrand.hue}`, "Hue of the account's colour: 0 to 360", numberUpTo(360)),
  chroma: setting.checked(
    "brand_chroma",
    `${standardBrand.chroma}`,
    "Strength of the account's colour: 0 to 0.14",
    numberUpTo(0.14),
  ),
};

/** Written with a point; 0 and more. */
function numberUpTo(most: number) {
  return (text: string): number => {
    const value = /^\d{1,3}(?:\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
    if (!(value <= most)) throw new Error(`must be a number from 0 to ${most}`);
    return value;
  };
}

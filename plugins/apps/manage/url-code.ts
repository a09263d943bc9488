/** The slug in an app's address. behaviour 2.3. Pure. */

import { asciiOf } from "platform";

/** Removes the characters that an address cannot contain: "Moja apka!" -> "Mojaapka", "zażółć" -> "zazolc". */
export function cleanUrlCode(given: string): string {
  return asciiOf(given).replaceAll(/[^A-Za-z0-9_-]/g, "");
}

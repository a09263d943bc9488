/** The slug in an app's address. behaviour 2.3. Pure. */

/** Removes the characters that an address cannot contain: "Moja apka!" -> "Mojaapka", "zażółć" -> "zazolc". */
export function cleanUrlCode(given: string): string {
  return given
    .normalize("NFKD")
    .replaceAll("ł", "l")
    .replaceAll("Ł", "L")
    .replaceAll(/[^A-Za-z0-9_-]/g, "");
}

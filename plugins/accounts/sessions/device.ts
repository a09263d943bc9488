/** What a User-Agent names: the special comes before what it also pretends to be. */
const browsers = { "Edg/": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari" };
const systems = {
  Android: "Android",
  iPhone: "iOS",
  iPad: "iPadOS",
  Windows: "Windows",
  "Mac OS X": "macOS",
  Linux: "Linux",
};

/** `Firefox, Linux`: by this people recognise a device. Of an unknown program its own words; null if it sent none. */
export function deviceOf(userAgent: string | null): string | null {
  const text = (userAgent ?? "").trim();
  const named = (names: Readonly<Record<string, string>>) =>
    Object.entries(names).find(([part]) => text.includes(part))?.[1];
  const words = [named(browsers), named(systems)].filter(Boolean);
  if (words.length > 0) return words.join(", ");
  return text === "" ? null : text.slice(0, 40);
}

/** Escapes text for HTML, attributes included. */
export function escapeHtml(text: string): string {
  if (!/[&<>"']/.test(text)) return text; // most texts need no escaping, and five searches cost more than one
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

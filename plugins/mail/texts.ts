/** The words of a mail as text and as HTML, from one description. Pure. */
import { escapeHtml, type Language } from "platform";

interface MailParts {
  readonly subject: string;
  /** Liquid, without HTML. */
  readonly paragraphs: readonly string[];
  /** The name of a value that is a text of somebody's: its lines stay. */
  readonly written?: string;
  /** A button: its label, and the name of the value that is its address. */
  readonly button?: { readonly label: string; readonly value: string };
  /** After the button, in small letters. */
  readonly notes?: readonly string[];
}

/** The three parts of a mail. */
export function mailTexts({ subject, paragraphs, written, button, notes = [] }: MailParts) {
  const own = written === undefined ? [] : [`{{ ${written} }}`];
  const link = button ? [`{{ ${button.value} }}`] : [];
  const footer = "{{ account.name }}\n{{ account.url }}";
  const html = [
    ...paragraphs.map((text) => paragraph(escapeText(text))),
    ...own.map((text) => `<p style="margin:0 0 16px;white-space:pre-line">${text}</p>`),
    ...(button
      ? [
          `<p style="margin:24px 0"><a href="{{ ${button.value} }}" style="${buttonStyle}">${escapeText(button.label)}</a></p>`,
          `<p style="${smallStyle};word-break:break-all"><a href="{{ ${button.value} }}" style="color:#1f5fd0">{{ ${button.value} }}</a></p>`,
        ]
      : []),
    ...notes.map((text) => `<p style="${smallStyle}">${escapeText(text)}</p>`),
    `<p style="${smallStyle};border-top:1px solid #d5dae3;padding-top:16px"><a href="{{ account.url }}" style="color:#566074">{{ account.name }}</a></p>`,
  ];
  return {
    subject,
    text: `${[...paragraphs, ...own, ...link, ...notes, footer].join("\n\n")}\n`,
    html: frame("{{ language }}", html.join("\n")),
  };
}

/** The words of a mail as `text/{en,pl,de}.json` has them. */
interface MailWords extends Pick<MailParts, "subject" | "paragraphs" | "notes"> {
  /** What the button says that leads to the value `link`. */
  readonly button?: string;
}

export function textsIn({ en, pl, de }: Readonly<Record<Language, MailWords>>) {
  const parts = ({ button, ...words }: MailWords) =>
    mailTexts({ ...words, ...(button !== undefined && { button: { label: button, value: "link" } }) });
  return { en: parts(en), pl: parts(pl), de: parts(de) };
}

/** A text without HTML of its own as HTML: paragraphs, and links where a line is an address. */
export function htmlOfText(text: string, language: string): string {
  const paragraphs = text.split("\n\n").map((part) => part.trim());
  return frame(
    language,
    paragraphs
      .filter((part) => part !== "")
      .map((part) => paragraph(part.split("\n").map(lineOf).join("<br>\n")))
      .join("\n"),
  );
}

function lineOf(line: string): string {
  const text = line.trim();
  const escaped = escapeHtml(text);
  const isLink = /^https?:\/\/\S/.test(text) && URL.canParse(text) && !/\s/.test(text);
  return isLink ? `<a href="${escaped}" style="color:#1f5fd0;word-break:break-all">${escaped}</a>` : escaped;
}

const smallStyle = "margin:0 0 12px;font-size:14px;color:#566074";
const buttonStyle =
  "display:inline-block;padding:12px 20px;border-radius:8px;background:#1f5fd0;color:#ffffff;font-weight:600;text-decoration:none";

const paragraph = (html: string) => `<p style="margin:0 0 16px">${html}</p>`;

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\n", "<br>\n");
}

/** Inline styles, because mail programs drop others. */
function frame(language: string, content: string): string {
  return `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body style="margin:0;padding:24px 12px;background:#f3f5f8;color:#1b2230;font:16px/1.5 -apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif">
<div style="max-width:520px;margin:0 auto;padding:28px 32px;background:#ffffff;border-radius:12px">
${content}
</div>
</body>
</html>
`;
}

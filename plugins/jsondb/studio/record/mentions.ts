/** Mentions of people in what one writes: `@login`. Pure. */

export interface Part {
  readonly text: string;
  readonly isMention: boolean;
}

const mostLogin = 100;
const inLogin = /[\p{L}\p{N}_.@-]/u;

/** The login that is being typed before the caret, from its `@` on; undefined if none is. */
export function mentionAt(text: string, caret: number): { readonly from: number; readonly typed: string } | undefined {
  for (let at = caret - 1; at >= 0 && caret - at <= mostLogin; at--) {
    const sign = text.charAt(at);
    const before = at === 0 ? "" : text.charAt(at - 1);
    if (sign === "@" && !inLogin.test(before)) return { from: at, typed: text.slice(at + 1, caret) };
    if (!inLogin.test(sign)) return undefined;
  }
  return undefined;
}

/** The text with a login instead of what was typed of it, and where the caret is then. */
export function withMention(
  text: string,
  { from, typed }: { readonly from: number; readonly typed: string },
  login: string,
): { readonly text: string; readonly caret: number } {
  const said = `@${login} `;
  return { text: text.slice(0, from) + said + text.slice(from + 1 + typed.length), caret: from + said.length };
}

/** A comment in its parts, so that mentions can be shown as such. */
export function partsOf(text: string): readonly Part[] {
  const parts: Part[] = [];
  let plain = "";
  for (const word of text.split(/(\s)/)) {
    if (!/^@[\p{L}\p{N}_-]/u.test(word)) plain += word;
    else {
      if (plain !== "") parts.push({ text: plain, isMention: false });
      plain = "";
      parts.push({ text: word, isMention: true });
    }
  }
  return plain === "" ? parts : [...parts, { text: plain, isMention: false }];
}

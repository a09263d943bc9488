/** The editor in the colours of style.css. `light-dark` follows the theme without a new editor. */
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const look = EditorView.theme({
  "&": {
    color: "var(--ink)",
    backgroundColor: "var(--card)",
    border: "1px solid var(--edge)",
    borderRadius: "var(--radius)",
    maxHeight: "max(24rem, 70vh)",
    fontSize: "0.87rem",
    overflow: "hidden",
  },
  "&.cm-focused": { outline: "3px solid var(--accent)", outlineOffset: "2px" },
  ".cm-scroller": { overflow: "auto", fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--ink)", outline: "none", paddingBlock: "5px" },
  ".cm-content::selection, .cm-line::selection, .cm-line ::selection": {
    backgroundColor: "light-dark(#b9d2fb, #2f4f8a)",
  },
  ".cm-content, .cm-gutter": { minHeight: "calc(var(--rows) * 1.55em + 10px)" },
  ".cm-gutters": { color: "var(--soft)", backgroundColor: "var(--paper)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "light-dark(#1f5fd00d, #8ab4ff14)" },
  "&.cm-focused .cm-activeLineGutter": { color: "var(--ink)", backgroundColor: "var(--accent-soft)" },
  ".cm-activeLineGutter": { backgroundColor: "transparent" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "light-dark(#c9e7d3, #24513a)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--wrong-soft)" },
  ".cm-searchMatch": { backgroundColor: "light-dark(#ffe9a8, #5a4a12)" },
  ".cm-searchMatch-selected": { backgroundColor: "light-dark(#ffc861, #8a6a10)" },
  ".cm-selectionMatch": { backgroundColor: "var(--accent-soft)" },
  ".cm-panels": { color: "var(--ink)", backgroundColor: "var(--paper)", borderColor: "var(--line)" },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panel.cm-search": { padding: "8px 32px 8px 8px", fontSize: "0.87rem" },
  ".cm-panel.cm-search input[type=checkbox]": { width: "1.15rem", margin: "0 .3em 0 0" },
  ".cm-panel.cm-search label": { display: "inline-flex", alignItems: "center", margin: "2px 8px", minHeight: "24px" },
  ".cm-textfield": {
    width: "12rem",
    maxWidth: "100%",
    minHeight: "2rem",
    color: "inherit",
    backgroundColor: "var(--card)",
    border: "1px solid var(--edge)",
  },
  ".cm-button, .cm-panel.cm-search [name=close]": {
    minHeight: "2rem",
    padding: "0 .6rem",
    color: "inherit",
    backgroundImage: "none",
    backgroundColor: "var(--card)",
    border: "1px solid var(--edge)",
  },
  ".cm-panel.cm-search [name=close]": { top: "8px", right: "6px", minWidth: "24px", padding: "0" },
  ".cm-tooltip": {
    color: "var(--ink)",
    backgroundColor: "var(--card)",
    border: "1px solid var(--edge)",
    borderRadius: "6px",
    boxShadow: "var(--shadow)",
    overflow: "hidden",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxWidth: "min(40rem, 90vw)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "3px 8px", lineHeight: "1.5" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    color: "var(--on-accent)",
    backgroundColor: "var(--accent)",
  },
  ".cm-completionDetail": { fontStyle: "normal", fontFamily: "system-ui, sans-serif", opacity: "0.85" },
  ".cm-completionIcon": { display: "none" },
  ".cm-diagnostic": { padding: "4px 10px" },
  ".cm-foldPlaceholder": { color: "var(--soft)", backgroundColor: "var(--paper)", borderColor: "var(--line)" },
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.controlKeyword, tags.moduleKeyword], color: "light-dark(#8a2393, #e0a5f0)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "light-dark(#1a6b2d, #96d9a3)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "light-dark(#9a4a00, #f2bd84)" },
  { tag: [tags.comment, tags.meta], color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.tagName, tags.angleBracket], color: "light-dark(#0b5c8a, #86cdf5)" },
  { tag: [tags.attributeName, tags.propertyName], color: "light-dark(#1b4fa8, #9fc2ff)" },
  { tag: [tags.function(tags.variableName), tags.typeName, tags.className], color: "light-dark(#7a4b00, #e9d08f)" },
  { tag: tags.definition(tags.variableName), color: "light-dark(#1b4fa8, #9fc2ff)" },
  { tag: [tags.brace, tags.processingInstruction], color: "light-dark(#a3174f, #ff9fbf)" },
  { tag: tags.heading, color: "light-dark(#0b5c8a, #86cdf5)", fontWeight: "700" },
  { tag: tags.strong, fontWeight: "700" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: [tags.link, tags.url], color: "var(--accent)", textDecoration: "underline" },
  { tag: tags.monospace, color: "light-dark(#7a4b00, #e9d08f)" },
  { tag: tags.invalid, color: "var(--wrong)" },
]);

export const theme: Extension = [look, syntaxHighlighting(colours)];

/** Mistakes in templates, found while parsing or rendering. behaviour B.11. */
import { escapeHtml, LiquidFault, readBounds } from "platform";

/** Which template failed, and where. */
export class TemplateFault extends Error {
  readonly template: string;
  readonly fault: LiquidFault;

  constructor(template: string, fault: LiquidFault) {
    super(`${template}, line ${fault.line}, column ${fault.column}: ${fault.message}`, { cause: fault });
    this.name = "TemplateFault";
    this.template = template;
    this.fault = fault;
  }
}

/** Of what is read for a page, more than a page may have read. */
export function tooLarge(of: string, advice: string): TemplateFault {
  const message = `the ${of} hold more than ${readBounds.answerBytes} bytes: ${advice}`;
  return new TemplateFault(of, new LiquidFault("limit", message, { line: 1, column: 1 }, undefined));
}

export function blaming<T>(template: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof LiquidFault) throw new TemplateFault(template, error);
    throw error;
  }
}

/** A page with the reason, for people who are allowed to see it. */
export function faultPage(fault: TemplateFault): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>The page cannot be shown</title>
<h1>The page cannot be shown</h1><p>${escapeHtml(fault.message)}</p></html>
`;
}

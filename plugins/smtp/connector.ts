/** `core/smtp`: the method `send`, and mails declared in `fields.methods`. behaviour B.9. */
import { createFiller, type ConnectorKind, type KindCall } from "../connectors/api.ts";
import { checkDefinition, connectorFields, methodsOf, serverOf, templateKeys, templateOf } from "./definition.ts";
import type { Template } from "./definition.ts";
import { mailOf } from "./message.ts";
import { sendMail, type MailContext } from "./send.ts";

const mostMs = 30_000;

export function smtpConnector(ctx: MailContext): ConnectorKind {
  return {
    name: "core/smtp",
    fields: connectorFields,
    methodKeys: [...templateKeys, "public", "description"],
    needsUrl: true,
    methods: methodsOf,
    check: checkDefinition,
    async call(connector, call) {
      const template = call.method === "send" ? undefined : templateOf(connector.fields, call.method);
      const mail = mailOf(template ? filled(template, call.params) : call.params, connector.fields);
      const startedAt = performance.now();
      const server = { ...serverOf(connector.url, connector.fields), password: connector.secret };
      const { bounced: _, ...outcome } = await sendMail(ctx, server, mail, {
        timeoutMs: Math.min(call.timeoutMs, mostMs),
        signal: call.signal,
        key: call.idempotencyKey,
      });
      return { ...outcome, retryAfterSeconds: null, durationMs: Math.round(performance.now() - startedAt) };
    },
  };
}

/** The fields of a declared mail. Throws the 422 that names every missing parameter. */
function filled(template: Template, params: KindCall["params"]): Record<string, unknown> {
  const fill = createFiller(params);
  const { html, ...texts } = template;
  const fields: Record<string, unknown> = {};
  for (const [key, text] of Object.entries(texts)) fields[key] = fill.text(text);
  if (html !== undefined) fields["html"] = fill.html(html);
  fill.check();
  return fields;
}

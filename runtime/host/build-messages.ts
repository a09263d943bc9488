/** A mistake that Bun found in a source, with its place. */
export function withPlace({ message, position }: Pick<BuildMessage, "message" | "position">): string {
  return position ? `${message} (${position.file}:${position.line}:${position.column})` : message;
}

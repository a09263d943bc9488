interface Ordered {
  readonly name: string;
  readonly needs: Readonly<Record<string, { readonly id: string }>>;
  readonly provides?: { readonly id: string };
}

/**
 * Orders plugins so that each comes after those it needs, and otherwise as given. Throws an Error that names the
 * plugins of a cycle, a need that no plugin provides, or two plugins of one name.
 */
export function inOrder<P extends Ordered>(plugins: readonly P[]): P[] {
  const providers = new Map<string, P>();
  const names = new Set<string>();
  for (const plugin of plugins) {
    if (names.has(plugin.name)) throw new Error(`two plugins are named "${plugin.name}"`);
    names.add(plugin.name);
    const id = plugin.provides?.id;
    if (id === undefined) continue;
    const other = providers.get(id);
    if (other) throw new Error(`"${other.name}" and "${plugin.name}" both provide "${id}"`);
    providers.set(id, plugin);
  }

  const ordered = new Set<P>();
  const visit = (plugin: P, chain: readonly string[]) => {
    if (ordered.has(plugin)) return;
    if (chain.includes(plugin.name))
      throw new Error(`plugins need each other: ${[...chain, plugin.name].join(" -> ")}`);
    for (const { id } of Object.values(plugin.needs)) {
      const provider = providers.get(id);
      if (!provider) throw new Error(`plugin "${plugin.name}" needs "${id}", which no plugin provides`);
      visit(provider, [...chain, plugin.name]);
    }
    ordered.add(plugin);
  };
  for (const plugin of plugins) visit(plugin, []);
  return [...ordered];
}

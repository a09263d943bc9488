/**
 * Most of what is written about Phaser is about Phaser 3: what its games call and Phaser 4 has no more, where that is
 * little. What is left of the differences stands in the prompt `apps_phaser_api`.
 */

/** As far as it is touched here. */
interface Phaser4 {
  readonly Geom: Record<string, unknown>;
  readonly Structs: Record<string, unknown>;
  readonly Math: { PI2?: number; readonly Vector2: unknown };
  readonly TintModes: { readonly FILL: number };
  readonly GameObjects: Readonly<Record<string, unknown>> & { readonly Group: Class };
  readonly Physics: { readonly Arcade: { readonly World: Class } };
}

interface Class {
  readonly prototype: object;
}

export function speakPhaser3(phaser: Phaser4): void {
  phaser.Geom["Point"] ??= phaser.Math.Vector2;
  phaser.Math.PI2 ??= Math.PI * 2;
  phaser.Structs["Set"] ??= ListedSet;
  listed(phaser.GameObjects.Group, "children");
  listed(phaser.Physics.Arcade.World, "bodies");
  listed(phaser.Physics.Arcade.World, "staticBodies");
  // Each has its own copy of what it is mixed from.
  for (const type of Object.values(phaser.GameObjects)) {
    const prototype: unknown = Object(type).prototype;
    if (hasMethod(prototype, "setTintFill")) prototype["setTintFill"] = tintFill(phaser.TintModes.FILL);
    if (hasMethod(prototype, "setLighting")) Object.assign(prototype, pipelines);
  }
}

function hasMethod(value: unknown, name: string): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name);
}

/** The Set of Phaser 3, which is the language's own in Phaser 4. */
class ListedSet<T> extends Set<T> {
  /** `run` ends it with false. */
  each(run: (value: T, index: number) => unknown, self?: unknown): this {
    this.getArray().every((value, index) => run.call(self, value, index) !== false);
    return this;
  }

  iterate(run: (value: T, index: number) => unknown, self?: unknown): this {
    return this.each(run, self);
  }

  contains(value: T): boolean {
    return this.has(value);
  }

  getArray(): T[] {
    return [...this];
  }
}

// An array, where the language's own has a function, which Phaser does not call.
Object.defineProperty(ListedSet.prototype, "entries", {
  get(this: ListedSet<unknown>) {
    return this.getArray();
  },
});

/** The Set that the class puts into its property becomes a ListedSet. */
function listed({ prototype }: Class, name: string): void {
  const kept = Symbol(name);
  Object.defineProperty(prototype, name, {
    get(this: { [kept]?: unknown }) {
      return this[kept];
    },
    set(this: { [kept]?: unknown }, value: unknown) {
      this[kept] = value instanceof Set ? new ListedSet(value) : value;
    },
  });
}

interface Tinted {
  setTint(...colors: readonly number[]): Tinted;
  setTintMode(mode: number): Tinted;
}

function tintFill(mode: number) {
  return function (this: Tinted, ...colors: readonly number[]): Tinted {
    return this.setTint(...colors).setTintMode(mode);
  };
}

interface Lit {
  setLighting(enable: boolean): Lit;
}

const pipelines = {
  setPipeline(this: Lit, name: unknown): Lit {
    if (name !== "Light2D") throw new Error(`Phaser 4 has no pipelines: ${String(name)}`);
    return this.setLighting(true);
  },
  resetPipeline(this: Lit): Lit {
    return this.setLighting(false);
  },
};

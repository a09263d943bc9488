/**
 * Most documentation and examples are for Phaser 3. This adds what games call there and Phaser 4 has dropped, as far as
 * that takes little code. The prompt `apps_phaser_api` describes the remaining differences.
 */

/** The parts that this file touches. */
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
  // Each class has its own copy of the mixed-in methods.
  for (const type of Object.values(phaser.GameObjects)) {
    const prototype: unknown = Object(type).prototype;
    if (hasMethod(prototype, "setTintFill")) prototype["setTintFill"] = tintFill(phaser.TintModes.FILL);
    if (hasMethod(prototype, "setLighting")) Object.assign(prototype, pipelines);
  }
}

function hasMethod(value: unknown, name: string): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name);
}

/** Phaser 3's own Set; Phaser 4 uses the built-in one. */
class ListedSet<T> extends Set<T> {
  /** Stops when `run` returns false. */
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

// An array; the built-in Set has a method of this name, which Phaser does not call.
Object.defineProperty(ListedSet.prototype, "entries", {
  get(this: ListedSet<unknown>) {
    return this.getArray();
  },
});

/** Turns the Set that the class stores in this property into a ListedSet. */
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

interface LitObject {
  setLighting(enable: boolean): LitObject;
}

const pipelines = {
  setPipeline(this: LitObject, name: unknown): LitObject {
    if (name !== "Light2D") throw new Error(`Phaser 4 has no pipelines: ${String(name)}`);
    return this.setLighting(true);
  },
  resetPipeline(this: LitObject): LitObject {
    return this.setLighting(false);
  },
};

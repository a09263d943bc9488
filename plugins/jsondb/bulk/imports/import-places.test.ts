import { describe, expect, test } from "bun:test";
import { createImportPlaces, type ImportPlace } from "./body.ts";

/** Two places; when both are taken, 10 bytes a second are asked for after 20 s. */
function twoPlaces() {
  const clock = { ms: 0 };
  const paceWhenFull = { minBytesPerSecond: 10, graceMs: 20_000 };
  const places = createImportPlaces({ most: 2, paceWhenFull, now: () => clock.ms });
  /** A client that has sent so many bytes while the server waited for it for so long, and is waited for again. */
  const take = (seconds: number, bytes: number): ImportPlace => {
    const place = places.take();
    place.waits();
    clock.ms += seconds * 1000;
    place.receives(bytes);
    place.waits();
    return place;
  };
  return { places, clock, take };
}

const thrown = (run: () => unknown): unknown => {
  try {
    run();
    return undefined;
  } catch (error) {
    return error;
  }
};

describe("a place of an import", () => {
  test("is kept by however slow a client while another place is free", () => {
    const { take, clock } = twoPlaces();
    const slow = take(1, 1);
    clock.ms += 3_000_000;
    expect(thrown(() => take(1, 1))).toBeUndefined();
    expect(slow.lost.aborted).toBe(false);
  });

  test.each<[what: string, seconds: number, bytes: number, isLost: boolean]>([
    ["within the grace", 20, 0, false],
    ["beyond the grace without a byte", 21, 0, true],
    ["just at the pace", 30, 100, false],
    ["just below the pace", 31, 100, true],
    ["a trickle above the usual minimum, for long", 3000, 20_000, true],
    ["a large body at the pace", 3000, 30_000, false],
  ])("of a client %s (%d s, %d bytes) goes to a new import: %#", (_, seconds, bytes, isLost) => {
    const { places, take } = twoPlaces();
    places.take();
    const place = take(seconds, bytes);
    const refused = thrown(() => places.take());
    expect([place.lost.aborted, refused === undefined]).toEqual([isLost, isLost]);
    if (isLost) expect(place.lost.reason).toMatchObject({ status: 408 });
    else expect(refused).toMatchObject({ status: 429, headers: { "retry-after": "10" } });
  });

  test("is lost by the slowest alone, and by one import for each that comes", () => {
    const { places, take } = twoPlaces();
    const slower = take(60, 100);
    const slow = take(60, 200);
    places.take();
    expect([slower.lost.aborted, slow.lost.aborted]).toEqual([true, false]);
    places.take();
    expect(slow.lost.aborted).toBe(true);
    expect(thrown(() => places.take())).toMatchObject({ status: 429 });
  });

  test("is not lost for what the server does, nor once the whole body is there", () => {
    const { places, clock } = twoPlaces();
    const handled = places.take();
    handled.waits();
    handled.receives(1);
    const complete = places.take();
    complete.waits();
    clock.ms += 19_000;
    complete.receives(0);
    complete.isComplete();
    clock.ms += 3_000_000;
    expect(thrown(() => places.take())).toMatchObject({ status: 429 });
    expect([handled.lost.aborted, complete.lost.aborted]).toEqual([false, false]);
  });

  test("is free again when its import leaves, lost or not, and only once", () => {
    const { places, take } = twoPlaces();
    const lost = take(100, 0);
    places.take();
    const third = places.take();
    expect(lost.lost.aborted).toBe(true);
    lost.leave(); // the place is another import's by now
    expect(thrown(() => places.take())).toMatchObject({ status: 429 });
    third.leave();
    third.leave();
    expect(thrown(() => places.take())).toBeUndefined();
    expect(thrown(() => places.take())).toMatchObject({ status: 429 });
  });
});

import { describe, expect, test } from "bun:test";
import { behind, hearUpTo, meet, type Peers } from "./broadcast-outbox.ts";
import { createProof } from "./broadcast.ts";

describe("the other processes", () => {
  test("are behind until they have heard a number; a new one has heard all that came before it", () => {
    const peers: Peers = new Map();
    expect(behind(peers, 9)).toEqual([]);
    expect([meet(peers, "a", 5), meet(peers, "b", 7), meet(peers, "a", 9)]).toEqual([true, true, false]);
    expect([behind(peers, 5), behind(peers, 6), behind(peers, 8)]).toEqual([[], ["a"], ["a", "b"]]);
    hearUpTo(peers, "a", 8);
    hearUpTo(peers, "b", 3); // came late
    expect(behind(peers, 8)).toEqual(["b"]);
    peers.delete("b");
    expect([behind(peers, 8), behind(peers, 9)]).toEqual([[], ["a"]]);
  });
});

describe("the proof that we hear", () => {
  test("is as old as the sending of the last message that came back", () => {
    let now = 0;
    const proof = createProof(() => now);
    for (const [number, at] of [
      [1, 100],
      [2, 200],
      [5, 300],
    ] as const) {
      now = at;
      proof.ask(number);
    }
    now = 400;
    expect(proof.ageMs()).toBe(400);
    proof.hear(0);
    expect(proof.ageMs()).toBe(400);
    proof.hear(3); // all up to this number
    expect(proof.ageMs()).toBe(200);
    proof.hear(2); // again
    expect(proof.ageMs()).toBe(200);
    proof.hear(5);
    expect(proof.ageMs()).toBe(100);
  });

  test("begins with a new connection, and does not count what was asked on the one before", () => {
    let now = 0;
    const proof = createProof(() => now);
    proof.ask(1);
    now = 500;
    proof.renew();
    now = 600;
    proof.hear(1);
    expect(proof.ageMs()).toBe(100);
  });
});

import kaboom from "kaboom";

const width = 480;
const height = 640;
const speed = 340;

const root = document.querySelector("#core-app");
const k = kaboom({
  root,
  width,
  height,
  letterbox: true,
  background: [14, 16, 38],
  global: false,
  // No sound: a page that was not clicked may not make any.
  audioCtx: undefined,
});

let best = 0;
core.storage.get("best").then(
  (kept) => (best = Number(kept) || 0),
  () => {},
);

function sky() {
  for (let at = 0; at < 60; at++) {
    k.add([
      k.rect(2, 2),
      k.pos(k.rand(width), k.rand(height)),
      k.color(200, 210, 255),
      k.opacity(k.rand(0.15, 0.7)),
      k.move(k.DOWN, k.rand(8, 30)),
      {
        update() {
          if (this.pos.y > height) this.pos.y = 0;
        },
      },
    ]);
  }
}

function title(text, y, size, color = [235, 238, 255]) {
  return k.add([k.text(text, { size, align: "center" }), k.pos(width / 2, y), k.anchor("center"), k.color(...color)]);
}

k.scene("start", () => {
  sky();
  title("STARDUST", 220, 52, [255, 214, 102]);
  title("Catch the stars, mind the rocks", 290, 18);
  title("Arrow keys, A and D, or your finger", 320, 16, [150, 160, 210]);
  title("Press space or tap to begin", 420, 18);
  k.onKeyPress("space", () => k.go("play"));
  k.onClick(() => k.go("play"));
});

k.scene("play", () => {
  let score = 0;
  sky();
  const label = k.add([k.text("0", { size: 28 }), k.pos(20, 18), k.z(10)]);
  const ship = k.add([
    k.polygon([k.vec2(0, -22), k.vec2(18, 18), k.vec2(0, 8), k.vec2(-18, 18)]),
    k.pos(width / 2, height - 70),
    k.area(),
    k.color(120, 200, 255),
    k.anchor("center"),
    "ship",
  ]);
  const steer = (direction) => () =>
    (ship.pos.x = Math.max(24, Math.min(width - 24, ship.pos.x + direction * speed * k.dt())));
  for (const key of ["left", "a"]) k.onKeyDown(key, steer(-1));
  for (const key of ["right", "d"]) k.onKeyDown(key, steer(1));
  k.onMouseMove((at) => (ship.pos.x = Math.max(24, Math.min(width - 24, at.x))));
  k.onTouchMove((at) => (ship.pos.x = Math.max(24, Math.min(width - 24, at.x))));

  const fall = () => k.move(k.DOWN, 150 + score * 6);
  const gone = {
    update() {
      if (this.pos.y > height + 40) k.destroy(this);
    },
  };
  k.loop(0.55, () => {
    const rock = k.chance(0.42);
    const at = k.pos(k.rand(30, width - 30), -30);
    if (rock)
      k.add([k.circle(k.rand(14, 24)), at, k.area(), k.color(140, 110, 105), k.anchor("center"), fall(), gone, "rock"]);
    else
      k.add([
        k.circle(9),
        at,
        k.area(),
        k.color(255, 214, 102),
        k.outline(4, k.rgb(255, 240, 190)),
        k.anchor("center"),
        fall(),
        gone,
        "star",
      ]);
  });
  ship.onCollide("star", (star) => {
    k.destroy(star);
    label.text = String(++score);
  });
  ship.onCollide("rock", () => k.go("end", score));
});

k.scene("end", (score) => {
  const record = score > best;
  if (record) {
    best = score;
    core.storage.set("best", score).catch(() => {});
  }
  sky();
  title(String(score), 230, 84, [255, 214, 102]);
  title(record ? "A new best!" : `Best: ${best}`, 310, 22);
  title("Press space or tap to fly again", 420, 18);
  k.onKeyPress("space", () => k.go("play"));
  k.onClick(() => k.go("play"));
});

k.go("start");

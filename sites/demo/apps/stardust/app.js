import kaboom from "kaboom";

const width = 480;
const height = 640;
const speed = 360;
const gold = [255, 214, 102];

const k = kaboom({
  root: document.querySelector("#core-app"),
  width,
  height,
  letterbox: true,
  pixelDensity: Math.min(devicePixelRatio * 2, 3),
  background: [5, 6, 16],
  global: false,
});

let best = 0;
core.storage.get("best").then(
  (kept) => (best = Number(kept) || 0),
  () => {},
);

const gone = {
  update() {
    if (this.pos.y > height + 40) k.destroy(this);
  },
};
const turning = (degrees) => ({
  update() {
    this.angle += degrees * k.dt();
  },
});

/** Points round a middle, at these distances from it, one after the other. */
const round = (count, distance) =>
  Array.from({ length: count }, (_, at) => k.Vec2.fromAngle((at * 360) / count - 90).scale(distance(at)));

/** The field, and stars behind it: the near ones are brighter and faster. */
function sky() {
  const gradient = [k.rgb(14, 16, 40), k.rgb(40, 28, 78)];
  k.add([k.z(-2), { draw: () => k.drawRect({ width, height, gradient }) }]);
  for (let at = 0; at < 70; at++) {
    const near = k.rand();
    k.add([
      k.circle(0.6 + near),
      k.pos(k.rand(width), k.rand(height)),
      k.color(205, 214, 255),
      k.opacity(0.2 + near * 0.6),
      k.move(k.DOWN, 8 + near * 34),
      k.z(-1),
      {
        update() {
          if (this.pos.y > height) this.pos.y = 0;
        },
      },
    ]);
  }
}

function say(text, y, size, color = [235, 238, 255]) {
  const options = { size, align: "center", font: "sans-serif", width: width - 40 };
  return k.add([k.text(text, options), k.pos(width / 2, y), k.anchor("center"), k.color(...color), k.z(10)]);
}

function ship(at) {
  const made = k.add([
    k.polygon([k.vec2(0, -24), k.vec2(18, 18), k.vec2(0, 9), k.vec2(-18, 18)]),
    k.pos(at),
    k.anchor("center"),
    k.color(134, 208, 255),
    k.area({ shape: new k.Rect(k.vec2(0), 24, 34) }),
  ]);
  made.add([k.polygon([k.vec2(0, -13), k.vec2(5, 3), k.vec2(-5, 3)]), k.color(24, 58, 110)]);
  made.add([
    k.polygon([k.vec2(-6, 13), k.vec2(0, 10), k.vec2(6, 13), k.vec2(0, 32)]),
    k.color(255, 170, 84),
    k.opacity(1),
    {
      update() {
        this.opacity = k.rand(0.45, 1);
      },
    },
  ]);
  return made;
}

function star() {
  return [
    k.polygon(
      round(10, (at) => (at % 2 === 0 ? 15 : 7)),
      { triangulate: true },
    ),
    k.color(...gold),
    k.area({ shape: new k.Rect(k.vec2(0), 24, 24) }),
    turning(70),
    "star",
  ];
}

function rock() {
  const size = k.rand(15, 27);
  return [
    k.polygon(round(9, () => size * k.rand(0.82, 1.08))),
    k.color(126, 108, 122),
    k.outline(3, k.rgb(88, 74, 92)),
    k.area({ shape: new k.Rect(k.vec2(0), size * 1.5, size * 1.5) }),
    turning(k.rand(-60, 60)),
    "rock",
  ];
}

function burst(at, count, color) {
  for (let part = 0; part < count; part++) {
    const way = k.Vec2.fromAngle(k.rand(360));
    const fades = k.lifespan(0.15, { fade: 0.4 });
    k.add([
      k.circle(k.rand(1.5, 3.5)),
      k.pos(at),
      k.color(...color),
      k.opacity(1),
      k.move(way, k.rand(60, 200)),
      fades,
    ]);
  }
}

function onStart(run) {
  k.onKeyPress("space", run);
  k.onClick(run);
}

k.scene("start", () => {
  sky();
  ship(k.vec2(width / 2, height - 70));
  say("STARDUST", 210, 60, gold);
  say("Catch the stars, mind the rocks", 284, 21);
  say("Arrow keys, A and D, or your finger", 316, 17, [164, 172, 218]);
  say("Press space or tap to begin", 430, 19);
  onStart(() => k.go("play"));
});

k.scene("play", () => {
  let score = 0;
  sky();
  const label = say("0", 44, 34);
  const own = ship(k.vec2(width / 2, height - 70));
  const to = (x) => (own.pos.x = k.clamp(x, 24, width - 24));
  const steer = (direction) => () => to(own.pos.x + direction * speed * k.dt());
  k.onKeyDown(["left", "a"], steer(-1));
  k.onKeyDown(["right", "d"], steer(1));
  k.onMouseMove((at) => to(at.x));
  k.onTouchMove((at) => to(at.x));

  k.loop(0.55, () => {
    const what = k.chance(0.42) ? rock() : star();
    const at = k.pos(k.rand(30, width - 30), -30);
    k.add([...what, at, k.rotate(k.rand(360)), k.anchor("center"), k.move(k.DOWN, 160 + score * 6), gone]);
  });
  own.onCollide("star", (caught) => {
    burst(caught.pos, 10, gold);
    k.destroy(caught);
    label.text = String(++score);
  });
  own.onCollide("rock", () => {
    burst(own.pos, 30, [255, 150, 90]);
    k.destroy(own);
    k.shake(10);
    k.wait(0.8, () => k.go("end", score));
  });
});

k.scene("end", (score) => {
  const isRecord = score > best;
  if (isRecord) {
    best = score;
    core.storage.set("best", score).catch(() => {});
  }
  sky();
  say(String(score), 220, 96, gold);
  say(isRecord ? "A new best!" : `Best: ${best}`, 306, 24);
  say("Press space or tap to fly again", 430, 19);
  onStart(() => k.go("play"));
});

k.go("start");

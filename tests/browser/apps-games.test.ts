/** Games as people and agents write them: without a place for the canvas, and for Phaser 3. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startStage, type Stage } from "./apps-fixture.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
}, 600_000);
afterAll(() => stage?.stop());

async function play(app_engine: string, source_code: string) {
  const { path } = await stage.make({ name: "Game", app_engine, source_code });
  const { page, faults } = await stage.open(await stage.visit(), path);
  await page.locator("canvas").waitFor();
  return { page, faults };
}

const scene = "{ create() { this.add.rectangle(5, 5, 9, 9, 0xff0000); globalThis.created = true; } }";

test.each([
  ["phaser", `new Phaser.Game({ width: 640, height: 360, scene: ${scene} })`],
  ["phaser", `new Phaser.Game({ width: 640, height: 360, parent: "game", scene: ${scene} })`],
  ["phaser", `new Phaser.Game({ width: 640, height: 360, parent: "core-app", scene: ${scene} })`],
  [
    "phaser",
    `new Phaser.Game({ scene: ${scene}, scale: { mode: Phaser.Scale.FIT, autoCenter: Phaser.Scale.CENTER_BOTH } })`,
  ],
  ["phaser", `new Phaser.Game({ scene: ${scene}, scale: { mode: Phaser.Scale.RESIZE } })`],
  ["kaboom", "kaboom(); globalThis.created = true"],
  ["kaboom", "kaboom({ width: 640, height: 360 }); globalThis.created = true"],
  ["kaboom", "kaboom({ width: 640, height: 360, letterbox: true }); globalThis.created = true"],
  ["kaboom", `kaboom({ root: document.querySelector("#core-app") }); globalThis.created = true`],
])("%s: the canvas is at the top, and the page no higher than the window: %s", async (engine, source) => {
  const { page, faults } = await play(engine, source);
  await page.waitForFunction(() => "created" in globalThis);
  const [top, height, pageHeight, windowHeight] = await page.evaluate(() => {
    const { y, height: own } = document.querySelector("canvas")!.getBoundingClientRect();
    return [y, own, document.documentElement.scrollHeight, innerHeight] as const;
  });
  expect(pageHeight).toBeLessThanOrEqual(windowHeight);
  expect(height).toBeGreaterThan(300);
  // As it lies in the window where it is centred.
  expect([0, (windowHeight - height) / 2]).toContain(top);
  expect(faults).toEqual([]);
  await page.context().close();
});

/** "Making your first Phaser 3 game", with drawn textures in place of its images. */
const tutorial = `
var config = {
  type: Phaser.AUTO, width: 800, height: 600,
  physics: { default: 'arcade', arcade: { gravity: { y: 300 }, debug: false } },
  scene: { preload: preload, create: create, update: update }
};
var player, stars, bombs, platforms, cursors, scoreText;
var score = 0;
var gameOver = false;
var game = new Phaser.Game(config);

function preload() {
  const draw = (key, width, height, color) => {
    const g = this.make.graphics({ x: 0, y: 0 }, false);
    g.fillStyle(color, 1).fillRect(0, 0, width, height).generateTexture(key, width, height).destroy();
  };
  draw('sky', 800, 600, 0x88aaff); draw('ground', 400, 32, 0x00aa00); draw('star', 24, 22, 0xffff00);
  draw('bomb', 14, 14, 0x222222); draw('dude', 288, 48, 0xcc3333);
  for (let at = 0; at < 9; at++) this.textures.get('dude').add(at, 0, at * 32, 0, 32, 48);
}

function create() {
  this.add.image(400, 300, 'sky');
  platforms = this.physics.add.staticGroup();
  platforms.create(400, 568, 'ground').setScale(2).refreshBody();
  platforms.create(600, 400, 'ground');
  platforms.create(50, 250, 'ground');
  platforms.create(750, 220, 'ground');
  player = this.physics.add.sprite(100, 450, 'dude', 4);
  player.setBounce(0.2);
  player.setCollideWorldBounds(true);
  this.anims.create({ key: 'left', frames: this.anims.generateFrameNumbers('dude', { start: 0, end: 3 }), frameRate: 10, repeat: -1 });
  this.anims.create({ key: 'turn', frames: [{ key: 'dude', frame: 4 }], frameRate: 20 });
  this.anims.create({ key: 'right', frames: this.anims.generateFrameNumbers('dude', { start: 5, end: 8 }), frameRate: 10, repeat: -1 });
  cursors = this.input.keyboard.createCursorKeys();
  stars = this.physics.add.group({ key: 'star', repeat: 11, setXY: { x: 12, y: 0, stepX: 70 } });
  stars.children.iterate(function (child) {
    child.setBounceY(Phaser.Math.FloatBetween(0.4, 0.8));
  });
  bombs = this.physics.add.group();
  scoreText = this.add.text(16, 16, 'score: 0', { fontSize: '32px', fill: '#000' });
  this.physics.add.collider(player, platforms);
  this.physics.add.collider(stars, platforms);
  this.physics.add.collider(bombs, platforms);
  this.physics.add.overlap(player, stars, collectStar, null, this);
  this.physics.add.collider(player, bombs, hitBomb, null, this);
}

function update() {
  if (gameOver) return;
  if (cursors.left.isDown) { player.setVelocityX(-160); player.anims.play('left', true); }
  else if (cursors.right.isDown) { player.setVelocityX(160); player.anims.play('right', true); }
  else { player.setVelocityX(0); player.anims.play('turn'); }
  if (cursors.up.isDown && player.body.touching.down) player.setVelocityY(-330);
  document.title = player.body.touching.down + ' ' + score + ' ' + gameOver;
}

function collectStar(player, star) {
  star.disableBody(true, true);
  score += 10;
  scoreText.setText('Score: ' + score);
  if (stars.countActive(true) === 0) {
    stars.children.iterate(function (child) { child.enableBody(true, child.x, 0, true, true); });
    var x = player.x < 400 ? Phaser.Math.Between(400, 800) : Phaser.Math.Between(0, 400);
    var bomb = bombs.create(x, 16, 'bomb');
    bomb.setBounce(1).setCollideWorldBounds(true).setVelocity(Phaser.Math.Between(-200, 200), 20);
    bomb.allowGravity = false;
  }
}

function hitBomb(player, bomb) {
  this.physics.pause();
  player.setTint(0xff0000);
  player.anims.play('turn');
  gameOver = true;
}`;

describe("Phaser 3", () => {
  test("its first tutorial is played", async () => {
    const { page, faults } = await play("phaser", tutorial);
    await page.waitForFunction(() => document.title.startsWith("true 0"));
    await page.keyboard.down("ArrowRight");
    await page.waitForFunction(() => Number(document.title.split(" ")[1]) >= 10, undefined, { timeout: 90_000 });
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("what its games call of sets, points, tints and lights is there", async () => {
    const { page, faults } = await play(
      "phaser",
      `const seen = {};
new Phaser.Game({ width: 200, height: 200, physics: { default: "arcade" }, scene: { create() {
  this.make.graphics({}, false).fillRect(0, 0, 8, 8).generateTexture("p", 8, 8);
  const group = this.physics.add.group();
  for (let at = 0; at < 3; at++) group.create(at, 0, "p");
  const { children } = group;
  seen.entries = children.entries.map(({ x }) => x);
  const each = []; children.each(({ x }) => each.push(x)); seen.each = each;
  const some = []; children.iterate(({ x }, at) => { some.push(at); return x < 1; }); seen.some = some;
  seen.array = children.getArray().length;
  seen.size = children.size;
  seen.contains = [children.contains(group.getFirstAlive()), children.contains(this)];
  seen.bodies = this.physics.world.bodies.entries.length;
  children.each((child) => child.destroy());
  seen.left = [group.getLength(), children.size, [...children].length];
  seen.plain = this.add.group([this.add.image(7, 0, "p")]).children.entries[0].x;
  const point = new Phaser.Geom.Point(1, 2);
  seen.point = [point.x, point.y, Phaser.Math.PI2 > 6];
  const image = this.add.image(1, 1, "p").setTintFill(0xff0000);
  seen.fill = [image.tintTopLeft, image.tintMode === Phaser.TintModes.FILL, image.clearTint().tintMode === Phaser.TintModes.FILL];
  this.lights.enable().setAmbientColor(0x555555);
  seen.lit = [image.setPipeline("Light2D").lighting, image.resetPipeline().lighting];
  document.title = JSON.stringify(seen);
} } });`,
    );
    await page.waitForFunction(() => document.title.startsWith("{"));
    expect(JSON.parse(await page.title())).toEqual({
      entries: [0, 1, 2],
      each: [0, 1, 2],
      some: [0, 1],
      array: 3,
      size: 3,
      contains: [true, false],
      left: [0, 0, 0],
      plain: 7,
      bodies: 3,
      point: [1, 2, true],
      fill: [0xff0000, true, false],
      lit: [true, false],
    });
    expect(faults).toEqual([]);
    await page.context().close();
  });
});

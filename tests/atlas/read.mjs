// Reads an atlas as PixiJS does and writes what it made of it as JSON: each texture's name and rectangle, and the
// animation's names. usage: node read.mjs ATLAS.json (tests/http/test_sheet.py does, where npm put PixiJS)
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
const { BaseTexture } = require('@pixi/core')
const { Spritesheet } = require('@pixi/spritesheet')
const atlas = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const { w, h } = atlas.meta.size
const sheet = new Spritesheet(new BaseTexture(null, { width: w, height: h }), atlas)
const textures = await sheet.parse()
const rectangle = ([name, t]) => [name, t.frame.x, t.frame.y, t.frame.width, t.frame.height]
console.log(JSON.stringify({
  frames: Object.entries(textures).map(rectangle),
  turn: sheet.animations.turn.map((t) => t.textureCacheIds[0]),
}))

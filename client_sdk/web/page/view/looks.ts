// What a body looks like by what is known of it: colour, and a surface with a pattern. Kinds differ in lightness and in
// pattern, too, so that they are told apart without colour sight.
import { Color } from 'three';
import { constants, type Body, type Shape } from '../../src/client.js';

/** As the shader of surfaces.ts knows them. */
export const SURFACE = {
  plain: 0, wood: 1, rubber: 2, metal: 3, stone: 4, ball: 5, car: 6, moved: 7, wall: 8,
} as const;

/** Is added to the surface of a body that is drawn as asleep. */
export const ASLEEP = 32;

export interface Look { colour: Color; surface: number }

const TALL_M = 5;  // half of the height

const look = (hex: string, surface: number): Look => ({ colour: new Color(hex), surface });
const plain = (hex: string): Look => look(hex, SURFACE.plain);

const OWN = look('#f7b718', SURFACE.car);
const OTHERS = ['#2f7fd1', '#d5502c', '#e9edf0', '#7d4fa8', '#1c9a76', '#4fc3e8', '#8f2346', '#a5b93a']
  .map((hex) => look(hex, SURFACE.car));
const MOVED = look('#8b78c6', SURFACE.moved);
const STONE = look('#c3c6c7', SURFACE.stone), WALL = look('#b9c2c9', SURFACE.wall);

// The first word that a material's name contains.
const MATERIALS: [RegExp, Look][] = [
  [/wood|timber|plank/, look('#cda470', SURFACE.wood)],
  [/rubber|tyre|tire/, look('#2c3036', SURFACE.rubber)],
  [/iron|steel|metal|lead/, look('#7e8b98', SURFACE.metal)],
  [/gravel|sand|dirt/, look('#b9a581', SURFACE.stone)],
  [/asphalt|road|tarmac/, look('#7b8086', SURFACE.stone)],
  [/grass|turf/, look('#86a35c', SURFACE.stone)],
  [/ice|glass/, look('#bfe0ea', SURFACE.plain)],
  [/concrete|stone|rock/, STONE],
];

// Parts of ragdolls: clothes of a group, skin of one tone.
const SKIN = look('#dba77e', SURFACE.plain), TROUSERS = look('#3a4a63', SURFACE.plain);
const SHIRTS = ['#d5502c', '#2f7fd1', '#e6b33a', '#1c9a76', '#e4e1d6', '#8f5fb0'].map(plain);

// Bodies without a material: dark and light ones in turn.
const PLAIN = ['#2f6f9f', '#d9692f', '#f0d9b8', '#e3a33f', '#d8b08c', '#35506e', '#6f93b8', '#2f8f6f'];
const SOLIDS = PLAIN.map(plain), BALLS = PLAIN.map((hex) => look(hex, SURFACE.ball));

function numberOf(text: string): number {
  let hash = 2166136261;
  for (let i = 0; i < text.length; ++i) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return hash >>> 0;
}
function oneOf(looks: Look[], number: number): Look {
  return looks[number % looks.length]!;
}

function limbOf(member: string, group: number): Look | null {
  if (/head|hand|lower_arm|forearm/.test(member)) return SKIN;
  if (/torso|chest|spine|upper_arm/.test(member)) return oneOf(SHIRTS, group);
  return /pelvis|hip|leg|thigh|shin|foot/.test(member) ? TROUSERS : null;
}

/** Of fixed bodies these are walls, through which one looks. */
export function isTall(shape: Shape): boolean {
  return shape.type === constants.SHAPE_BOX && shape.halfExtents[1] >= TALL_M;
}

/** `index` is the body's, `own`: it belongs to the player of this page. */
export function lookOf(body: Body, shape: Shape, index: number, own: boolean): Look {
  const material = MATERIALS.find(([name]) => name.test(body.materialName))?.[1];
  const mine = body.slot !== constants.NO_SLOT;
  if (mine && material?.surface !== SURFACE.rubber && !/wheel/.test(body.memberName))
    return limbOf(body.memberName, body.slot) && !own ? limbOf(body.memberName, body.slot)!
      : own ? OWN : oneOf(OTHERS, body.slot);
  if (body.type === constants.BODY_KINEMATIC) return MOVED;
  if (body.type === constants.BODY_FIXED && isTall(shape)) return WALL;
  if (material) return material;
  if (body.type === constants.BODY_FIXED) return STONE;
  const limb = limbOf(body.memberName, Math.floor(index / 11));
  if (limb) return limb;
  const name = (body.templateName + body.memberName) || body.name.replace(/[\d[\].\s_-]+.*$/, '');
  const number = body.shape + (name ? numberOf(name) : 0);
  return shape.type === constants.SHAPE_SPHERE ? oneOf(BALLS, number) : oneOf(SOLIDS, number);
}

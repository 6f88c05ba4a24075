// One material for all bodies: three's standard one, with patterns in the body's frame by the instance's `surface`
// (SURFACE of looks.ts). A pattern shows what a body is made of and how it turns.
import { type IUniform, MeshStandardMaterial, Vector3, type WebGLProgramParametersWithUniforms } from 'three';
import { constants } from '../../src/client.js';
import { ASLEEP } from './looks.js';

const VERTEX_HEAD = /* glsl */ `
attribute float surface;
varying float vSurface;
varying vec3 vAt, vFacing, vWorld, vWorldUp;
`;
const VERTEX = /* glsl */ `
vSurface = surface;
vAt = position;
vFacing = normal;
vWorld = (modelMatrix * instanceMatrix * vec4(position, 1.)).xyz;
vWorldUp = mat3(instanceMatrix) * normal;
`;

/** Lines of the world's metres on what faces up: each metre a thin one, each tenth a stronger one. */
export const GRID = /* glsl */ `
float lineOf(vec2 at, float step, float width) {
  vec2 cell = at / step, wide = fwidth(cell);
  vec2 drawn = max(vec2(width / step), wide);
  vec2 off = abs(fract(cell - .5) - .5);
  vec2 line = smoothstep(drawn + wide, drawn, off) * clamp(width / step / drawn, 0., 1.);
  return max(line.x, line.y) * (1. - smoothstep(.3, .8, max(wide.x, wide.y)));
}
float gridOf(vec2 at) { return max(.5 * lineOf(at, 1., .01), lineOf(at, 10., .025)); }
`;

const FRAGMENT_HEAD = /* glsl */ `
varying float vSurface;
varying vec3 vAt, vFacing, vWorld, vWorldUp;
uniform vec3 halfSize;
uniform float form;
${GRID}
float soft(float edge, float at) { float w = fwidth(at); return smoothstep(edge - w, edge + w, at); }
float noise(vec3 p) { return fract(sin(dot(floor(p), vec3(12.99, 78.23, 37.72))) * 43758.55); }

// In a face of a box: the place in [-1, 1], and half of the face's size in m.
void faceOf(out vec2 at, out vec2 size) {
  vec3 n = abs(vFacing);
  if (n.x > max(n.y, n.z)) { at = vAt.zy; size = halfSize.zy; }
  else if (n.y > n.z) { at = vAt.xz; size = halfSize.xz; }
  else { at = vAt.xy; size = halfSize.xy; }
  at /= size;
}

vec3 wood(vec3 colour) {
  vec2 at, size;
  faceOf(at, size);
  bool crate = form == BOX && max(size.x, size.y) < 1.4 * min(size.x, size.y) && size.x > .15;
  vec2 along = size.x > size.y && !crate ? at.yx * size.yx : at * size;
  float grain = noise(vec3(along.x * 60., along.y * 2.5, 1.)) * .1 + noise(vec3(along.x * 17., along.y * .8, 5.)) * .1;
  colour *= .9 + grain;
  if (!crate) return colour;
  vec2 edge = (1. - abs(at)) * size;
  float frame = 1. - soft(.17 * min(size.x, size.y) * 1.5, min(edge.x, edge.y));
  float board = abs(fract(at.x * 2.5 + .5) - .5);
  float inner = mix(.62, .8, soft(.05, board));
  float seam = 1. - .45 * (1. - soft(.012, abs(min(edge.x, edge.y) - .255 * min(size.x, size.y))));
  return colour * mix(inner, 1.06, frame) * seam;
}

// A wheel about the axis y of a cylinder, or x of a sphere: a light hub with spokes, and a tread.
vec3 wheel(vec3 colour, out float hub) {
  vec3 p = form == SPHERE ? vAt.yxz : vAt;
  float r = length(p.xz) / max(halfSize.x, halfSize.z), turn = atan(p.z, p.x);
  bool cap = form == SPHERE ? r < .75 : abs(vFacing.y) > .7;
  hub = 0.;
  if (!cap) return colour * (.8 + .5 * soft(.12, abs(fract(turn * 20. / 6.2831853) - .5)));
  float spoke = soft(.28 * (1. - .3 * r), abs(fract(turn * 5. / 6.2831853) - .5));
  float rim = soft(.56, r) * (1. - soft(.66, r));
  hub = max(max(rim, 1. - soft(.22, r)), (1. - soft(.6, r)) * (1. - spoke));
  return mix(colour * .7, vec3(.72, .75, .78), hub);
}

// A car's box: a stripe from front to back, lamps in front (-z) and behind, and a line about the middle.
vec3 car(vec3 colour, out float glow) {
  vec3 p = vAt / halfSize;
  glow = 0.;
  if (form != BOX) return colour;
  float stripe = (1. - soft(.26, abs(p.x))) * soft(.5, vFacing.y) * soft(.05, abs(abs(p.x) - .04) );
  colour = mix(colour, vec3(.06, .07, .09), stripe * .85);
  float glass = soft(.5, vFacing.y) * soft(-.52, p.z) * (1. - soft(-.2, p.z)) * (1. - soft(.8, abs(p.x)));
  colour = mix(colour, vec3(.05, .09, .14), glass);
  float lamp = soft(.52, abs(p.x)) * (1. - soft(.86, abs(p.x))) * (1. - soft(.5, abs(p.y - .1)));
  float front = lamp * soft(.5, -vFacing.z), back = lamp * soft(.5, vFacing.z);
  glow = front;
  colour = mix(colour, vec3(1., .97, .86), front);
  return mix(colour, vec3(.62, .03, .03), back);
}

vec3 ball(vec3 colour) {
  vec3 n = normalize(vAt);
  float band = 1. - soft(.24, abs(n.y)), cross = 1. - soft(.1, abs(n.x));
  return mix(mix(colour, colour * .45, cross), mix(vec3(1.), colour, .12), band);
}

vec3 stone(vec3 colour) {
  colour *= .985 + .03 * noise(vAt * 40.);
  float large = step(2.5, max(halfSize.x, halfSize.z));
  return colour * (1. - .2 * large * step(.6, vWorldUp.y) * gridOf(vWorld.xz));
}

// A tall wall: its edges stay, and a veil of dots.
void lookThrough() {
  vec2 at, size;
  faceOf(at, size);
  vec2 edge = (1. - abs(at)) * size;
  vec2 dot2 = mod(floor(gl_FragCoord.xy), 4.);
  if (min(edge.x, edge.y) > .06 && dot2.x + dot2.y > 0.) discard;
}

// Moved by the room's program: slanting bands, as on machines.
vec3 moved(vec3 colour) {
  float width = clamp(max(halfSize.x, max(halfSize.y, halfSize.z)) * .25, .08, 1.);
  return colour * mix(.62, 1.08, soft(.25, abs(fract((vAt.x + vAt.y + vAt.z) / (2. * width)) - .5)));
}

// Asleep: pale, and hatched in the plane of the picture.
vec3 sleeping(vec3 colour) {
  vec3 pale = mix(vec3(dot(colour, vec3(.3, .6, .1))), vec3(.62, .66, .7), .55);
  return pale * (mod(gl_FragCoord.x + gl_FragCoord.y, 9.) < 3. ? .3 : 1.);
}
`;
const FRAGMENT_COLOUR = /* glsl */ `
float glow = 0., hub = 0.;
int kind = int(vSurface + .5);
bool asleep = kind >= ASLEEP;
if (asleep) kind -= ASLEEP;
if (kind == 1) diffuseColor.rgb = wood(diffuseColor.rgb);
else if (kind == 2 && (form == SPHERE || form == CYLINDER)) diffuseColor.rgb = wheel(diffuseColor.rgb, hub);
else if (kind == 4) diffuseColor.rgb = stone(diffuseColor.rgb);
else if (kind == 5) diffuseColor.rgb = ball(diffuseColor.rgb);
else if (kind == 6) diffuseColor.rgb = car(diffuseColor.rgb, glow);
else if (kind == 7) diffuseColor.rgb = moved(diffuseColor.rgb);
else if (kind == 8) lookThrough();
if (asleep) diffuseColor.rgb = sleeping(diffuseColor.rgb);
`;
const FRAGMENT_ROUGHNESS = /* glsl */ `
roughnessFactor = kind == 3 ? .38 : kind == 6 ? .32 : kind == 5 ? .42 : kind == 2 ? mix(.85, .4, hub) : .8;
`;
const FRAGMENT_METAL = /* glsl */ `
metalnessFactor = kind == 3 ? .55 : kind == 6 ? .1 : .5 * hub;
`;
const FRAGMENT_GLOW = /* glsl */ `
totalEmissiveRadiance += glow * vec3(.9, .86, .7);
`;

// What of the sky is mirrored, without a map of it.
const FRAGMENT_SKY = /* glsl */ `
vec3 away = transformDirectionByInverseViewMatrix(reflect(-geometryViewDir, normal), viewMatrix);
vec3 sky = mix(vec3(.71, .80, .88), vec3(.05, .23, .62), pow(clamp(away.y, 0., 1.), .55));
sky = mix(vec3(.44, .43, .36), sky, smoothstep(-.15, .05, away.y));
float grazing = pow(1. - saturate(dot(normal, geometryViewDir)), 5.);
reflectedLight.indirectSpecular += sky * (1. - .75 * roughnessFactor) *
  (material.specularColor + (1. - roughnessFactor) * .6 * grazing);
`;

const FORMS = `#define SPHERE ${constants.SHAPE_SPHERE}.
#define BOX ${constants.SHAPE_BOX}.
#define CYLINDER ${constants.SHAPE_CYLINDER}.
#define ASLEEP ${ASLEEP}
`;

/** `form`: constants.SHAPE_*. All these materials share one program. */
export function surfaceMaterial(form: number, halfSize: [number, number, number]): MeshStandardMaterial {
  const material = new MeshStandardMaterial({ roughness: 0.8, metalness: 0 });
  const uniforms: Record<string, IUniform> = {
    halfSize: { value: new Vector3(...halfSize) }, form: { value: form },
  };
  material.onBeforeCompile = (shader: WebGLProgramParametersWithUniforms) => {
    Object.assign(shader.uniforms, uniforms);
    const put = (text: string, after: string, added: string) => text.replace(after, `${after}\n${added}`);
    shader.vertexShader = put(VERTEX_HEAD + shader.vertexShader, '#include <begin_vertex>', VERTEX);
    let { fragmentShader } = shader;
    fragmentShader = put(FORMS + FRAGMENT_HEAD + fragmentShader, '#include <color_fragment>', FRAGMENT_COLOUR);
    fragmentShader = put(fragmentShader, '#include <roughnessmap_fragment>', FRAGMENT_ROUGHNESS);
    fragmentShader = put(fragmentShader, '#include <metalnessmap_fragment>', FRAGMENT_METAL);
    fragmentShader = put(fragmentShader, '#include <emissivemap_fragment>', FRAGMENT_GLOW);
    shader.fragmentShader = put(fragmentShader, '#include <lights_fragment_end>', FRAGMENT_SKY);
  };
  material.customProgramCacheKey = () => 'surface';
  return material;
}

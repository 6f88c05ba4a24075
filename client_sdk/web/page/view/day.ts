// A day: the sky, its light, the haze and the ground.
import { BackSide, Color, DirectionalLight, Fog, HemisphereLight, Mesh, MeshStandardMaterial, PCFShadowMap,
         PlaneGeometry, type Quaternion, type Scene, ShaderMaterial, SphereGeometry, Vector3,
         type WebGLRenderer } from 'three';
import { GRID } from './surfaces.js';

const HORIZON = new Color('#dbe8f1'), ZENITH = new Color('#3f86cf'), GROUND = new Color('#c4c6b4');
const TO_SUN = new Vector3(0.55, 0.62, 0.42).normalize();
const RIGHT_OF_SUN = new Vector3(0, 1, 0).cross(TO_SUN).normalize(), ABOVE_SUN = TO_SUN.clone().cross(RIGHT_OF_SUN);
const SKY_M = 3000, MAP_TEXELS = 2048;

function skyMesh(): Mesh {
  const material = new ShaderMaterial({
    side: BackSide, depthWrite: false, fog: false,
    uniforms: { horizon: { value: HORIZON }, zenith: { value: ZENITH }, ground: { value: GROUND },
                toSun: { value: TO_SUN } },
    vertexShader: `varying vec3 vTo;
      void main() {
        vTo = position;
        gl_Position = (projectionMatrix * modelViewMatrix * vec4(position, 1.)).xyww;
      }`,
    fragmentShader: `uniform vec3 horizon, zenith, ground, toSun;
      varying vec3 vTo;
      float hash(vec2 p) { return fract(sin(dot(p, vec2(127.1, 311.7))) * 43758.5453); }
      float noise(vec2 p) {
        vec2 i = floor(p), f = fract(p);
        f = f * f * (3. - 2. * f);
        return mix(mix(hash(i), hash(i + vec2(1, 0)), f.x), mix(hash(i + vec2(0, 1)), hash(i + 1.), f.x), f.y);
      }
      void main() {
        vec3 to = normalize(vTo);
        float up = to.y, sun = max(dot(to, toSun), 0.);
        vec3 colour = mix(horizon, zenith, pow(clamp(up, 0., 1.), .55));
        colour = mix(colour, ground, smoothstep(0., -.25, up));
        colour += vec3(1., .86, .6) * (.12 * pow(sun, 8.) + .25 * pow(sun, 90.));
        if (up > .02) {
          vec2 at = to.xz / (up + .12) * 1.1;
          float cloud = noise(at) * .55 + noise(at * 2.3 + 7.) * .28 + noise(at * 5.1) * .17;
          colour = mix(colour, vec3(1.), .8 * smoothstep(.52, .8, cloud) * smoothstep(.02, .25, up));
        }
        colour += vec3(1., .95, .8) * smoothstep(.9994, .9997, sun);
        gl_FragColor = vec4(colour, 1.);
        #include <tonemapping_fragment>
        #include <colorspace_fragment>
      }`,
  });
  const mesh = new Mesh(new SphereGeometry(SKY_M, 48, 24), material);
  mesh.frustumCulled = false;
  mesh.renderOrder = 10;
  return mesh;
}

/** The half space of a plane's shape: a large square that goes with the eye. */
export function groundMesh(): Mesh {
  const material = new MeshStandardMaterial({ color: '#d9d5c3', roughness: 0.95 });
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = `varying vec3 vWorld;\n${shader.vertexShader}`.replace('#include <begin_vertex>',
      '#include <begin_vertex>\nvWorld = (modelMatrix * vec4(position, 1.)).xyz;');
    shader.fragmentShader = `varying vec3 vWorld;\n${GRID}\n${shader.fragmentShader}`.replace(
      '#include <color_fragment>', `#include <color_fragment>
       float tile = mod(floor(vWorld.x / 10.) + floor(vWorld.z / 10.), 2.);
       diffuseColor.rgb *= (1. - .03 * tile) * (1. - .22 * gridOf(vWorld.xz));`);
  };
  const mesh = new Mesh(new PlaneGeometry(2 * SKY_M, 2 * SKY_M).rotateX(-Math.PI / 2), material);
  mesh.receiveShadow = true;
  mesh.frustumCulled = false;
  return mesh;
}

const up = new Vector3();

/** Below the eye, on the plane that `position` and `orientation` give; in steps, so that its lines stay. */
export function placeGround(mesh: Mesh, position: Vector3, orientation: Quaternion, eye: Vector3): void {
  up.set(0, 1, 0).applyQuaternion(orientation);
  mesh.quaternion.copy(orientation);
  mesh.position.copy(eye).addScaledVector(up, -up.dot(eye) + up.dot(position));
  mesh.updateMatrix();
}

export class Day {
  readonly #sky = skyMesh();
  readonly #sun = new DirectionalLight('#fff1dc', 3.1);
  readonly #fog = new Fog(HORIZON, 60, 900);

  constructor(scene: Scene, renderer: WebGLRenderer) {
    renderer.shadowMap.type = PCFShadowMap;
    const sun = this.#sun, { shadow } = sun;
    shadow.mapSize.set(MAP_TEXELS, MAP_TEXELS);
    shadow.radius = 3;
    shadow.bias = -0.0004;
    shadow.normalBias = 0.03;
    scene.add(this.#sky, sun, sun.target, new HemisphereLight('#dcebfa', '#a39a84', 1.7));
    scene.fog = this.#fog;
  }

  set shadows(on: boolean) {
    this.#sun.castShadow = on;
  }

  /** Light and haze about what is looked at, from `distance` m. */
  follow(eye: Vector3, target: Vector3, distance: number): void {
    this.#sky.position.copy(eye);
    this.#fog.near = 60 + 2 * distance;
    this.#fog.far = 600 + 7 * distance;
    const reach = Math.min(Math.max(2 ** Math.ceil(Math.log2(1.2 * distance)), 16), 256);
    const { camera } = this.#sun.shadow;
    if (camera.right !== reach) {
      camera.left = camera.bottom = -reach;
      camera.right = camera.top = reach;
      camera.near = 1;
      camera.far = 6 * reach;
      camera.updateProjectionMatrix();
    }
    // In steps of the map's texels: edges of shadows do not crawl while the eye moves.
    const texel = 2 * reach / MAP_TEXELS, { position } = this.#sun.target;
    position.copy(target);
    for (const axis of [RIGHT_OF_SUN, ABOVE_SUN]) {
      const along = target.dot(axis);
      position.addScaledVector(axis, Math.round(along / texel) * texel - along);
    }
    this.#sun.position.copy(position).addScaledVector(TO_SUN, 3 * reach);
  }
}

// Lines and dots of a width in pixels, bright with a dark edge, so that they are seen before everything. Their buffers
// grow and are used again.
import { BufferAttribute, BufferGeometry, Color, DynamicDrawUsage, InstancedBufferAttribute, InstancedInterleavedBuffer,
         InterleavedBufferAttribute, Points, type Scene, ShaderMaterial, Vector3 } from 'three';
import { LineMaterial } from 'three/addons/lines/LineMaterial.js';
import { LineSegments2 } from 'three/addons/lines/LineSegments2.js';
import { LineSegmentsGeometry } from 'three/addons/lines/LineSegmentsGeometry.js';

const EDGE = '#10151c', EDGE_PX = 1.25;
const LEAST_DOT_PX = 3;
const ABOVE = 10;  // order of drawing

function lineMaterial(width: number, colour: Color | null): LineMaterial {
  return new LineMaterial({
    color: colour ?? 0xffffff, vertexColors: colour === null, linewidth: width, dashed: true, dashSize: 0.55,
    gapSize: 0.45, depthTest: false, transparent: true, toneMapped: false,
  });
}

export class Lines {
  readonly #meshes: LineSegments2[];
  #capacity = 0;
  #ends!: Float32Array;
  #colours!: Float32Array;
  #dashes!: Float32Array;
  count = 0;

  constructor(scene: Scene, widthPx: number) {
    const edge = lineMaterial(widthPx + 2 * EDGE_PX, new Color(EDGE)), core = lineMaterial(widthPx, null);
    this.#meshes = [edge, core].map((material) => new LineSegments2(new LineSegmentsGeometry(), material));
    this.#meshes.forEach((mesh, i) => {
      mesh.frustumCulled = mesh.visible = false;
      mesh.renderOrder = ABOVE + i;
      scene.add(mesh);
    });
    this.makeRoom(256);
  }
  /** For so many lines; those that there are go. */
  makeRoom(count: number): void {
    if (count <= this.#capacity) return;
    const capacity = (this.#capacity = Math.ceil(1.5 * count)), geometry = new LineSegmentsGeometry();
    this.#ends = new Float32Array(6 * capacity);
    this.#colours = new Float32Array(3 * capacity);
    this.#dashes = new Float32Array(2 * capacity);
    const pair = (name: string, array: Float32Array, each: number): void => {
      const buffer = new InstancedInterleavedBuffer(array, 2 * each, 1).setUsage(DynamicDrawUsage);
      geometry.setAttribute(`${name}Start`, new InterleavedBufferAttribute(buffer, each, 0));
      geometry.setAttribute(`${name}End`, new InterleavedBufferAttribute(buffer, each, each));
    };
    pair('instance', this.#ends, 3);
    pair('instanceDistance', this.#dashes, 1);
    const colour = new InstancedBufferAttribute(this.#colours, 3).setUsage(DynamicDrawUsage);
    geometry.setAttribute('instanceColorStart', colour).setAttribute('instanceColorEnd', colour);
    this.#meshes[0]!.geometry.dispose();
    for (const mesh of this.#meshes) mesh.geometry = geometry;
    this.count = 0;
  }
  /** From `a[i]`, x, y, z, to `b[j]`. `dashes`: so many; 0: none. */
  add(a: ArrayLike<number>, i: number, b: ArrayLike<number>, j: number, colour: Color, dashes: number): void {
    if (this.count === this.#capacity) return;
    const at = this.count++, ends = this.#ends, colours = this.#colours;
    for (let k = 0; k < 3; ++k) {
      ends[6 * at + k] = a[i + k]!;
      ends[6 * at + 3 + k] = b[j + k]!;
    }
    colours[3 * at] = colour.r;
    colours[3 * at + 1] = colour.g;
    colours[3 * at + 2] = colour.b;
    this.#dashes[2 * at + 1] = dashes;
  }
  clear(): void {
    this.count = 0;
    this.show();
  }
  /** Shows those that were added. */
  show(): void {
    const { geometry } = this.#meshes[0]!;
    geometry.instanceCount = this.count;
    for (const mesh of this.#meshes) mesh.visible = this.count > 0;
    if (this.count === 0) return;
    for (const name of ['instanceStart', 'instanceDistanceStart'])
      (geometry.getAttribute(name) as InterleavedBufferAttribute).data.needsUpdate = true;
    geometry.getAttribute('instanceColorStart').needsUpdate = true;
  }
}

/** Dots: full ones and rings. */
export class Dots {
  readonly #points: Points<BufferGeometry, ShaderMaterial>;
  #capacity = 0;
  #places!: Float32Array;
  #full!: Uint8Array;
  count = 0;

  /** A dot is `metres` wide, but at most `mostPx` pixels. */
  constructor(scene: Scene, colour: string, metres: number, mostPx: number) {
    const pixels = { value: new Vector3() };  // the most, the least, and those of a metre before the eye
    this.#points = new Points(new BufferGeometry(), new ShaderMaterial({
      depthTest: false, transparent: true,
      uniforms: { colour: { value: new Color(colour) }, edge: { value: new Color(EDGE) }, pixels },
      vertexShader: `attribute float full;
        uniform vec3 pixels;
        varying float vFull;
        void main() {
          vFull = full;
          gl_Position = projectionMatrix * viewMatrix * vec4(position, 1.);
          gl_PointSize = clamp(pixels.z * projectionMatrix[1][1] / gl_Position.w, pixels.y, pixels.x);
        }`,
      fragmentShader: `uniform vec3 colour, edge;
        varying float vFull;
        void main() {
          float r = 2. * length(gl_PointCoord - .5);
          if (r > 1. || (vFull < .5 && r < .4)) discard;
          bool inner = vFull > .5 ? r < .68 : r > .5 && r < .8;
          gl_FragColor = vec4(inner ? colour : edge, 1.);
          #include <colorspace_fragment>
        }`,
    }));
    this.#points.frustumCulled = this.#points.visible = false;
    this.#points.renderOrder = ABOVE + 2;
    this.#points.onBeforeRender = (renderer) => {
      const ratio = renderer.getPixelRatio();
      pixels.value.set(mostPx * ratio, LEAST_DOT_PX * ratio, metres * renderer.domElement.height / 2);
    };
    scene.add(this.#points);
    this.makeRoom(256);
  }
  /** For so many dots; those that there are go. */
  makeRoom(count: number): void {
    if (count <= this.#capacity) return;
    const capacity = (this.#capacity = Math.ceil(1.5 * count));
    this.#places = new Float32Array(3 * capacity);
    this.#full = new Uint8Array(capacity);
    this.#points.geometry.dispose();
    this.#points.geometry = new BufferGeometry()
      .setAttribute('position', new BufferAttribute(this.#places, 3).setUsage(DynamicDrawUsage))
      .setAttribute('full', new BufferAttribute(this.#full, 1).setUsage(DynamicDrawUsage));
    this.count = 0;
  }
  /** At `a[i]`, x, y, z. */
  add(a: ArrayLike<number>, i: number, full: boolean): void {
    if (this.count === this.#capacity) return;
    const at = this.count++;
    for (let k = 0; k < 3; ++k) this.#places[3 * at + k] = a[i + k]!;
    this.#full[at] = full ? 1 : 0;
  }
  clear(): void {
    this.count = 0;
    this.show();
  }
  /** Shows those that were added. */
  show(): void {
    const points = this.#points, { geometry } = points;
    points.visible = this.count > 0;
    geometry.setDrawRange(0, this.count);
    geometry.getAttribute('position').needsUpdate = geometry.getAttribute('full').needsUpdate = this.count > 0;
  }
}

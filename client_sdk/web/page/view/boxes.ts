// Boxes along the world's axes, as lines: one instance a box, whose bounds are copied as they are.
import { BufferAttribute, Color, DynamicDrawUsage, InstancedBufferGeometry, InstancedInterleavedBuffer,
         InterleavedBufferAttribute, LineSegments, type Scene, ShaderMaterial } from 'three';

const EDGES = [0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 1, 3, 4, 6, 5, 7, 0, 4, 1, 5, 2, 6, 3, 7];  // corners; bits: x, y, z

export class Boxes {
  readonly #lines: LineSegments<InstancedBufferGeometry, ShaderMaterial>;
  #capacity = 0;
  count = 0;
  #bounds!: Float32Array;

  constructor(scene: Scene, colour: string) {
    this.#lines = new LineSegments(new InstancedBufferGeometry(), new ShaderMaterial({
      uniforms: { colour: { value: new Color(colour) } },
      // A plane has no end: its box is nowhere.
      vertexShader: `attribute vec3 low, high;
        void main() {
          vec3 at = mix(low, high, position);
          gl_Position = any(greaterThan(high - low, vec3(1e5))) ? vec4(2., 2., 2., 1.)
            : projectionMatrix * viewMatrix * vec4(at, 1.);
        }`,
      fragmentShader: `uniform vec3 colour;
        void main() {
          gl_FragColor = vec4(colour, 1.);
          #include <colorspace_fragment>
        }`,
    }));
    this.#lines.frustumCulled = this.#lines.visible = false;
    scene.add(this.#lines);
  }
  /** `bounds`: least and most x, y, z of each; those from `first` on are drawn. */
  show(bounds: Float32Array, first: number, count: number): void {
    this.#makeRoom(count);
    this.count = count;
    this.#lines.visible = count > 0;
    this.#lines.geometry.instanceCount = count;
    if (count === 0) return;
    for (let i = 0; i < 6 * count; ++i) this.#bounds[i] = bounds[6 * first + i]!;
    (this.#lines.geometry.getAttribute('low') as InterleavedBufferAttribute).data.needsUpdate = true;
  }
  clear(): void {
    this.count = 0;
    this.#lines.visible = false;
  }
  #makeRoom(count: number): void {
    if (count <= this.#capacity) return;
    this.#capacity = Math.ceil(1.5 * count);
    this.#bounds = new Float32Array(6 * this.#capacity);
    const buffer = new InstancedInterleavedBuffer(this.#bounds, 6, 1).setUsage(DynamicDrawUsage);
    const corners = Float32Array.from(EDGES.flatMap((corner) => [corner & 1, (corner >> 1) & 1, corner >> 2]));
    const geometry = new InstancedBufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(corners, 3));
    geometry.setAttribute('low', new InterleavedBufferAttribute(buffer, 3, 0));
    geometry.setAttribute('high', new InterleavedBufferAttribute(buffer, 3, 3));
    this.#lines.geometry.dispose();
    this.#lines.geometry = geometry;
  }
}

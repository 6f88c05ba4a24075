// Outlines of a few bodies, some pixels wide: the own ones have one line, the selected one has two.
import { BackSide, BufferGeometry, Color, Matrix4, Mesh, Quaternion, type Scene, ShaderMaterial, Vector2,
         Vector3 } from 'three';
import type { Samples } from '../../src/client.js';
import type { Bodies } from './bodies.js';

const MOST = 24;  // own bodies that get one

function lineMaterial(colour: string, pixels: number, resolution: Vector2): ShaderMaterial {
  return new ShaderMaterial({
    side: BackSide,
    uniforms: { colour: { value: new Color(colour) }, pixels: { value: pixels }, resolution: { value: resolution } },
    vertexShader: `uniform float pixels;
      uniform vec2 resolution;
      void main() {
        vec4 at = projectionMatrix * modelViewMatrix * vec4(position, 1.);
        vec2 out2 = (projectionMatrix * modelViewMatrix * vec4(normal, 0.)).xy * resolution;
        at.xy += normalize(out2 + 1e-6) * 2. * pixels / resolution * at.w;
        gl_Position = at;
      }`,
    fragmentShader: `uniform vec3 colour;
      void main() {
        gl_FragColor = vec4(colour, 1.);
        #include <colorspace_fragment>
      }`,
  });
}

const position = new Vector3(), orientation = new Quaternion(), one = new Vector3(1, 1, 1), pose = new Matrix4();

export class Outlines {
  readonly #meshes: Mesh[] = [];
  readonly #scene: Scene;
  readonly #resolution = new Vector2(1, 1);
  readonly #own = lineMaterial('#161b22', 2.5, this.#resolution);
  readonly #selected = [lineMaterial('#ffffff', 3, this.#resolution), lineMaterial('#161b22', 5.5, this.#resolution)];
  #used = 0;

  constructor(scene: Scene) {
    this.#scene = scene;
  }
  resize(width: number, height: number): void {
    this.#resolution.set(width, height);
  }
  update(bodies: Bodies, samples: Samples, selected: bigint | null): void {
    this.#used = 0;
    for (const id of bodies.own) if (this.#used < MOST && id !== selected) this.#draw(bodies, samples, id, this.#own);
    if (selected !== null) for (const line of this.#selected) this.#draw(bodies, samples, selected, line);
    for (let i = this.#used; i < this.#meshes.length; ++i) this.#meshes[i]!.visible = false;
  }
  #draw(bodies: Bodies, samples: Samples, id: bigint, material: ShaderMaterial): void {
    const at = bodies.placeOf(samples, id), geometry = bodies.geometryAt(id);
    if (at < 0 || !geometry) return;
    const mesh = this.#meshes[this.#used++] ?? this.#add();
    position.fromArray(samples.positions, 3 * at);
    orientation.fromArray(samples.orientations, 4 * at);
    mesh.matrixWorld.copy(pose.compose(position, orientation, one));
    mesh.geometry = geometry;
    mesh.material = material;
    mesh.visible = true;
  }
  #add(): Mesh {
    const mesh = new Mesh(new BufferGeometry());
    mesh.matrixAutoUpdate = mesh.matrixWorldAutoUpdate = mesh.frustumCulled = false;
    this.#meshes.push(mesh);
    this.#scene.add(mesh);
    return mesh;
  }
}

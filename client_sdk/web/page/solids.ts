// The shapes of a live room's scene, which the server gives away unless whoever runs it forbids that.
import simWasm from '../dist/orrery_client_sim.wasm?url';
import { constants, type Client } from '../src/client.js';
import { Scene } from '../src/scene.js';

/** Null: the scene has spheres, boxes, capsules, cylinders and planes alone, or is not given away. */
export async function solidsOf(client: Client): Promise<Scene | null> {
  const session = client.session();
  if (!session || session.sceneBytes === 0) return null;
  const shapes = Array.from({ length: session.shapeCount }, (_, i) => client.shape(i));
  if (!shapes.some((shape) => shape && shape.type >= constants.SHAPE_HULL)) return null;
  const answer = await fetch(`/scene/${session.sceneBytesHash.toString(16).padStart(16, '0')}`);
  return answer.ok ? Scene.open(new Uint8Array(await answer.arrayBuffer()), simWasm) : null;
}

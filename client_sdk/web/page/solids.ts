// The shapes of what is looked at as solids: of a recording's scene, or of a live room's, which the server gives away
// unless whoever runs it forbids that.
import { constants } from '../src/client.js';
import { Scene } from '../src/scene.js';
import { LiveSource } from './connection.js';
import { simModule } from './modules.js';
import { ReplaySource } from './panels/replay_source.js';
import type { Source } from './source.js';

/** Null: the scene has spheres, boxes, capsules, cylinders and planes alone, or is not given away. */
export async function solidsOf(source: Source): Promise<Scene | null> {
  const bytes = await sceneOf(source);
  return bytes ? Scene.open(bytes, await simModule()) : null;
}

async function sceneOf(source: Source): Promise<Uint8Array | null> {
  if (source instanceof ReplaySource) return source.player.sceneBytes();
  const session = source instanceof LiveSource ? source.client.session() : null;
  if (!session || session.sceneBytes === 0) return null;
  const shapes = Array.from({ length: session.shapeCount }, (_, i) => source.shape(i));
  if (!shapes.some((shape) => shape && shape.type >= constants.SHAPE_HULL)) return null;
  const answer = await fetch(`/scene/${session.sceneBytesHash.toString(16).padStart(16, '0')}`);
  return answer.ok ? new Uint8Array(await answer.arrayBuffer()) : null;
}

// The geometry of a shape, in the frame of its body. Sizes are in it, so that an instance's matrix is a pose alone.
import { BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, CylinderGeometry, IcosahedronGeometry,
         SphereGeometry } from 'three';
import { RoundedBoxGeometry } from 'three/addons/geometries/RoundedBoxGeometry.js';
import { constants, type Shape } from '../../src/client.js';

/** Bodies of a shape from which on its geometry is plainer. */
export const MANY = 1500, CROWD = 20_000;

/** Of a hull, a mesh, a height field or a compound, in the frame of the body. */
export interface Triangles { positions: Float32Array; normals: Float32Array; indices: Uint32Array }

/** The shapes of a scene by their numbers, of which the server tells no more than a box. */
export interface Solids { triangles(shape: number): Triangles | null }

function ofTriangles({ positions, normals, indices }: Triangles): BufferGeometry {
  return new BufferGeometry().setIndex(new BufferAttribute(indices, 1))
    .setAttribute('position', new BufferAttribute(positions, 3))
    .setAttribute('normal', new BufferAttribute(normals, 3));
}

/** A sphere of few triangles, with its normals. */
function roundedSolid(radius: number, detail: number): BufferGeometry {
  const geometry = new IcosahedronGeometry(radius, detail), normals = geometry.getAttribute('position').clone();
  for (let i = 0; i < normals.count; ++i)
    normals.setXYZ(i, normals.getX(i) / radius, normals.getY(i) / radius, normals.getZ(i) / radius);
  geometry.setAttribute('normal', normals);
  return geometry;
}

/** `count`: bodies that are drawn of it. Null: nothing to draw as a solid (a plane is the ground). Without `triangles`
 * a shape that has them is drawn as the box about it. */
export function geometryOf(shape: Shape, count = 1, triangles: Triangles | null = null): BufferGeometry | null {
  const { radius, halfHeight, halfExtents: [x, y, z] } = shape, many = count >= MANY;
  switch (shape.type) {
    case constants.SHAPE_PLANE:
      return null;
    case constants.SHAPE_SPHERE:
      return many ? roundedSolid(radius, count >= CROWD ? 0 : 1) : new SphereGeometry(radius, 40, 24);
    case constants.SHAPE_CAPSULE:
      return new CapsuleGeometry(radius, 2 * halfHeight, many ? 3 : 8, many ? 10 : 24);
    case constants.SHAPE_CYLINDER:
      return new CylinderGeometry(radius, radius, 2 * halfHeight, many ? 14 : 40);
    default:
      if (triangles) return ofTriangles(triangles);
      return many ? new BoxGeometry(2 * x, 2 * y, 2 * z)
                  : new RoundedBoxGeometry(2 * x, 2 * y, 2 * z, 3, Math.min(0.05, 0.25 * Math.min(x, y, z)));
  }
}

/** Half of the shape's size along its axes: what patterns are measured by. */
export function halfSizeOf(shape: Shape): [number, number, number] {
  const { radius, halfHeight, halfExtents } = shape;
  switch (shape.type) {
    case constants.SHAPE_SPHERE:
      return [radius, radius, radius];
    case constants.SHAPE_CAPSULE:
      return [radius, halfHeight + radius, radius];
    case constants.SHAPE_CYLINDER:
      return [radius, halfHeight, radius];
    default:
      return halfExtents;
  }
}

// What the lines of a joint look like by its kind. The families differ in lightness and in dashes, too.
import { Color } from 'three';

/** `dash`: the length of a dash and its gap, as part of the eye's distance; 0: no dashes. */
export interface JointLook { family: string; colour: Color; dash: number }

const look = (family: string, hex: string, dash: number): JointLook => ({ family, colour: new Color(hex), dash });

// The first whose pattern the kind's name has.
const LOOKS: [RegExp, JointLook][] = [
  [/wheel|gear|pulley|rack/, look('wheel, gear', '#6a3ff0', 0)],
  [/weld/, look('weld', '#ffffff', 0)],
  [/ball_socket/, look('ball socket', '#ffe066', 0.028)],
  [/hinge|swing|twist|angular/, look('hinge, twist', '#ff8a47', 0.014)],
  [/linear|slider|line|distance/, look('slider, distance', '#59c7ff', 0.05)],
  [/./, look('others', '#8d97a3', 0.015)],
];
export const JOINT_LOOKS = LOOKS.map(([, each]) => each);

export function jointLookOf(kind: string): JointLook {
  return (LOOKS.find(([name]) => name.test(kind)) ?? LOOKS.at(-1)!)[1];
}

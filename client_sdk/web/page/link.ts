// What a link holds, after its `#`: the eye, the tick, the selected body, the quality; and, once, a connect token.
export interface Link {
  eye: { position: number[]; target: number[]; following: boolean } | null;
  tick: number | null;
  selected: bigint | null;
  token: Uint8Array | null;
  /** How fine the picture is; null: as fine as the machine can do. */
  quality: 'high' | 'low' | null;
  /** Snapshots, even where a mirror is allowed. */
  snapshots: boolean;
  /** The server is asked for a director's token, with which bodies are held, and not for a player's. */
  director: boolean;
}

const TOKEN_BYTES = 2048;

function bytesOf(base64: string): Uint8Array | null {
  try {
    const text = atob(base64.replaceAll('-', '+').replaceAll('_', '/'));
    return text.length === TOKEN_BYTES ? Uint8Array.from(text, (letter) => letter.charCodeAt(0)) : null;
  } catch {
    return null;
  }
}

export function readLink(hash: string): Link {
  const all = new URLSearchParams(hash.replace(/^#/, ''));
  const eye = (all.get('eye') ?? '').split(',').map(Number), number = /^\d+$/;
  const quality = all.get('quality'), tick = all.get('tick') ?? '', selected = all.get('body') ?? '';
  return {
    eye: eye.length === 6 && eye.every(Number.isFinite)
      ? { position: eye.slice(0, 3), target: eye.slice(3), following: all.get('follow') === '1' } : null,
    tick: number.test(tick) ? Number(tick) : null,
    selected: number.test(selected) ? BigInt(selected) : null,
    token: bytesOf(all.get('token') ?? ''),
    quality: quality === 'high' || quality === 'low' ? quality : null,
    snapshots: all.get('mode') === 'snapshots',
    director: all.get('role') === 'director',
  };
}

/** A link without a token: one is used once. */
export function writeLink(link: Omit<Link, 'token'>): string {
  const all = new URLSearchParams();
  const { eye, tick, selected } = link;
  if (eye) all.set('eye', [...eye.position, ...eye.target].map((value) => value.toFixed(2)).join(','));
  if (eye?.following) all.set('follow', '1');
  if (tick !== null) all.set('tick', String(tick));
  if (selected !== null) all.set('body', String(selected));
  if (link.quality) all.set('quality', link.quality);
  if (link.snapshots) all.set('mode', 'snapshots');
  if (link.director) all.set('role', 'director');
  const text = all.toString().replaceAll('%2C', ',');
  return text && `#${text}`;
}

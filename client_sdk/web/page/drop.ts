// Recordings that are dropped on the page.
import { element } from './ui.js';

export function acceptDrops(open: (bytes: Uint8Array, name: string) => void): void {
  const hint = element('drop');
  let inside = 0;  // dragenter and dragleave come for each element on the way
  const isFile = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
  const move = (by: number) => (event: DragEvent) => {
    if (!isFile(event)) return;
    event.preventDefault();
    inside = Math.max(inside + by, 0);
    hint.hidden = inside === 0;
  };
  addEventListener('dragenter', move(1));
  addEventListener('dragleave', move(-1));
  addEventListener('dragover', (event) => isFile(event) && event.preventDefault());
  addEventListener('drop', (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    inside = 0;
    hint.hidden = true;
    const file = event.dataTransfer?.files[0];
    if (file) void file.arrayBuffer().then((bytes) => open(new Uint8Array(bytes), file.name));
  });
}

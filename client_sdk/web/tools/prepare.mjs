// Copies what CMake's preset `web` made into the package: the modules into dist/, the layout of their structs into src/.
// ORRERY_WEB_BUILD names the build folder if it is not build/web.
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const build = process.env.ORRERY_WEB_BUILD ?? join(here, '../../build/web');
const layout = join(build, 'web/layout.ts');
if (!existsSync(layout) || !existsSync(join(build, 'bin/orrery_client.wasm'))) {
  console.error(`There is no ${join(build, 'bin/orrery_client.wasm')}. Build it first, in the folder of the repository:\n` +
    '  cmake --preset web && cmake --build --preset web');
  process.exit(1);
}
mkdirSync(join(here, 'dist'), { recursive: true });
copyFileSync(layout, join(here, 'src/layout.ts'));
for (const name of ['orrery_client.wasm', 'orrery_client_sim.wasm']) {
  if (existsSync(join(build, 'bin', name))) copyFileSync(join(build, 'bin', name), join(here, 'dist', name));
}

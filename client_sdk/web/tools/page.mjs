// Makes the browser example a page that a server can give away as it is: what a bundler does, for one import.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const script = join(here, 'dist/examples/browser/yard.js');
writeFileSync(script, readFileSync(script, 'utf8').replace("'@orrery/client'", "'../../client.js'"));
copyFileSync(join(here, 'examples/browser/index.html'), join(here, 'dist/examples/browser/index.html'));

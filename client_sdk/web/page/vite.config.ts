// `npm run page` builds the page into dist-page/, which `orrery serve --web` gives away. `npx vite page` serves it from
// its sources, beside a server on port 7780.
import { defineConfig } from 'vite';

const room = 'http://127.0.0.1:7780';

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  build: {
    outDir: '../dist-page',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,  // the server's Content-Security-Policy wants files
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    rolldownOptions: { external: ['node:fs/promises'] },  // src/wasm.ts reads files with it in Node alone
  },
  server: { proxy: { '/play': { target: room, ws: true }, '/token': room, '/scene': room } },
});

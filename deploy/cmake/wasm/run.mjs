// node run.mjs PROGRAM [ARGUMENT...]: runs a WebAssembly program of WASI preview 1 with this process's arguments, environment
// and files, and ends with its exit code.
import { readFileSync } from 'node:fs';
import { WASI } from 'node:wasi';

const args = process.argv.slice(2);
const wasi = new WASI({ version: 'preview1', args, env: process.env, preopens: { '/': '/' }, returnOnExit: true });
const program = new WebAssembly.Module(readFileSync(args[0]));
process.exitCode = wasi.start(new WebAssembly.Instance(program, { wasi_snapshot_preview1: wasi.wasiImport }));

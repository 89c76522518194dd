/** The thread that the host starts. An error ends it, and the host starts another one. */
import { parentPort, workerData } from 'node:worker_threads';

// Sound: the host says so.
const { module, name } = workerData as { readonly module: string; readonly name: string };
const exported: Record<string, unknown> = await import(module);
const create = exported[name];
if (typeof create !== 'function') throw new TypeError(`${module} exports no function ${name}`);
const render = create();

parentPort?.on('message', (input: unknown) => parentPort?.postMessage(render(input)));
parentPort?.postMessage('ready');

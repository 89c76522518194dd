import { parentPort } from 'node:worker_threads';
import { type Commission, type StudioAnswer, UnusableInputError } from './commission.ts';
import { createProducer } from './produce.ts';

// This file is only ever a worker's entry; commissions are done one after the other, in the order they came.
const port = parentPort;
if (port === null) throw new Error('studio/worker.ts runs only as a worker');
const producer = createProducer();
let queue = Promise.resolve();

port.on('message', ({ id, commission }: { id: number; commission: Commission }) => {
  queue = queue.then(async () => {
    try {
      const pieces = await (await producer)(commission);
      const answer: StudioAnswer = { id, pieces };
      port.postMessage(
        answer,
        pieces.map((piece) => piece.bytes.buffer),
      );
    } catch (error) {
      const unusable = error instanceof UnusableInputError ? error.what : null;
      const answer: StudioAnswer = {
        id,
        unusable,
        message: error instanceof Error ? error.message : String(error),
      };
      port.postMessage(answer);
    }
  });
});

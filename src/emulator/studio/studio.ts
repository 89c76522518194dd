import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { type Commission, type Piece, type StudioAnswer, UnusableInputError } from './commission.ts';

/** Makes media in worker threads, so that the thread of the server (and of a bot beside it) stays free. */
export interface Studio {
  /** Throws UnusableInputError when uploaded sound or a picture cannot be read, and Error when the studio closes. */
  produce(commission: Commission): Promise<readonly Piece[]>;
  close(): Promise<void>;
}

interface Waiting {
  resolve(pieces: readonly Piece[]): void;
  reject(error: Error): void;
}
interface Desk {
  readonly worker: Worker;
  readonly waiting: Map<number, Waiting>;
}

/** Pieces that wait at every desk before another one is opened. */
const worthADesk = 3;

/** Opens a studio; its workers start with the first commissions, at most two of them. */
export function openStudio(): Studio {
  const desks: Desk[] = [];
  const mostDesks = Math.min(2, availableParallelism());
  let nextId = 1;
  let closed = false;

  const openDesk = (): Desk => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url));
    const desk: Desk = { worker, waiting: new Map() };
    worker.on('message', (answer: StudioAnswer) => {
      const waiting = desk.waiting.get(answer.id);
      desk.waiting.delete(answer.id);
      if (desk.waiting.size === 0) worker.unref();
      if (waiting === undefined) return;
      if ('pieces' in answer) waiting.resolve(answer.pieces);
      else if (answer.unusable !== null)
        waiting.reject(new UnusableInputError(answer.unusable, answer.message));
      else waiting.reject(new Error(answer.message));
    });
    const lose = (error: Error): void => {
      desks.splice(desks.indexOf(desk), desks.includes(desk) ? 1 : 0);
      for (const waiting of desk.waiting.values()) waiting.reject(error);
      desk.waiting.clear();
    };
    worker.on('error', lose);
    worker.on('exit', () => lose(new Error('the studio closed')));
    desks.push(desk);
    return desk;
  };
  const chooseDesk = (): Desk => {
    const [first, ...others] = desks;
    if (first === undefined) return openDesk();
    const freest = others.reduce(
      (least, desk) => (desk.waiting.size < least.waiting.size ? desk : least),
      first,
    );
    // A worker costs more to start than a piece or two cost to make.
    return freest.waiting.size >= worthADesk && desks.length < mostDesks ? openDesk() : freest;
  };

  return {
    produce(commission) {
      if (closed) return Promise.reject(new Error('the studio is closed'));
      const desk = chooseDesk();
      const id = nextId++;
      return new Promise((resolve, reject) => {
        desk.waiting.set(id, { resolve, reject });
        desk.worker.ref();
        desk.worker.postMessage({ id, commission });
      });
    },
    async close() {
      closed = true;
      await Promise.all(desks.slice().map((desk) => desk.worker.terminate()));
    },
  };
}

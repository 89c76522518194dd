/** The media store of a history, and the file hosts. */
import type { JobDependencies } from '../../src/jobs/dependencies.ts';
import { MediaError } from '../../src/media/errors.ts';
import type { History } from './history.ts';
import type { Kernel, Process } from './kernel.ts';

export class SimulatedMedia {
  readonly #kernel: Kernel;
  readonly #history: History;
  #fetches = 0;

  constructor(kernel: Kernel, history: History) {
    this.#kernel = kernel;
    this.#history = history;
  }

  of(process: Process): JobDependencies['media'] {
    const storedFile = (name: string) => ({ name, bytes: 1_000, contentType: 'audio/mpeg' });
    return {
      keep: (url) =>
        this.#kernel.effect(process, `stores ${url}`, () => {
          this.#fail();
          return storedFile(url.split('/').at(-1) ?? 'file');
        }),
      keepBytes: () => this.#kernel.effect(process, 'stores an image', () => storedFile('bytes.png')),
      keepText: async (_text, extension) => storedFile(`text.${extension}`),
      archive: async () => storedFile('archive.zip'),
      open: async () => undefined,
      seconds: async () => 60,
      stat: async (name) => storedFile(name),
      tag: async (file) => file,
    };
  }

  /** Throws MediaError as the history demands. */
  #fail(): void {
    const reply = this.#history.media[this.#fetches] ?? 'kept';
    this.#fetches += 1;
    if (reply === 'kept') return;
    this.#kernel.tell('media', reply);
    switch (reply) {
      case 'away':
        throw new MediaError('network', reply);
      case 'not there':
        throw new MediaError('status', reply, { status: 404, retryable: true });
      case 'no room':
        throw new MediaError('disk-full', reply);
      default:
        reply satisfies never;
    }
  }
}

import type { Message } from '../../message.ts';
import type { MessageStream, Posted } from '../platform.ts';
import type { EditScheduler } from './edit-scheduler.ts';

export interface StreamDependencies {
  readonly scheduler: EditScheduler;
  readonly channel: string;
  /** The key of the post. */
  readonly key: string;
  /** Makes the message stand; edits what an earlier call posted. */
  readonly write: (message: Message, streaming: boolean) => Promise<Posted>;
}

/** The newest message wins, and the last state is always written. */
export function createStream({ scheduler, channel, key, write }: StreamDependencies): MessageStream {
  let closed = false;
  return {
    update(message) {
      if (!closed) scheduler.offer(channel, key, () => write(message, true));
    },
    async close(message) {
      closed = true;
      return await scheduler.write(channel, key, () => write(message, false), { uploads: hasFiles(message) });
    },
  };
}

export const hasFiles = ({ media }: Message): boolean => (media?.length ?? 0) > 0;

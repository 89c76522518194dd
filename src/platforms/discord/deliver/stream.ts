/** Shows text while it is being written, by editing its messages. */
import type { Address } from '../../../core/invocation.ts';
import type { Message } from '../../../core/message.ts';
import type { MessageStream, ShowOptions } from '../../platform.ts';
import { createNewestWins } from '../../shared/newest-wins.ts';
import { addressDataOf, liveToken } from '../address.ts';
import { errorKindOf } from '../errors.ts';
import type { EditPace } from './edit-pace.ts';
import { showMessage } from './show.ts';
import type { DeliveryTools } from './tools.ts';

/** See Platform.stream. */
export function streamMessage(
  address: Address,
  options: ShowOptions,
  tools: DeliveryTools & { readonly pace: EditPace },
): MessageStream {
  const { pace, now, log } = tools;
  const closed = new AbortController();
  const data = addressDataOf(address);
  let isFirst = true;
  let { posted } = options;

  async function write(message: Message, streaming: boolean) {
    posted = await showMessage(
      address,
      message,
      {
        ...options,
        posted,
        streaming,
        async remember(latest) {
          posted = latest;
          await options.remember(latest);
        },
      },
      tools,
    );
    return posted;
  }

  let newest: (() => Message) | undefined;
  const writer = createNewestWins<() => Message>({
    async ready() {
      const { channel: other } = address;
      const budget = liveToken(data, now())?.token ?? other;
      await pace.slot({ budget, other, isFirst }, closed.signal);
      isFirst = false;
    },
    write: async (message) => void (await write(message(), true)),
    failed(error) {
      log.debug({ err: error }, 'Could not edit a streamed message');
      // The last write reports permanent failures.
      if (errorKindOf(error) === 'unavailable' && newest) writer.offer(newest);
    },
  });

  return {
    update(message) {
      newest = message;
      writer.offer(message);
    },
    async close(message) {
      closed.abort();
      await writer.close();
      return await write(message, false);
    },
  };
}

/** Invocations, and what comes of them. */

import type { Bot } from '../../../core/bot/create-bot.ts';
import { UserError } from '../../../core/errors.ts';
import type { Address, Invocation, Person } from '../../../core/invocation.ts';
import type { FileReference, Form, RawOptions } from '../../../core/options.ts';
import type { BrowserAnswer, BrowserChannel } from '../../../core/web/browser-chat.ts';
import type { Target } from '../../shared/target.ts';
import type { History } from '../deliver/history.ts';
import type { Posts } from '../deliver/posts.ts';
import { webNodes } from '../render/markdown.ts';
import type { WebMessage } from '../render/message.ts';
import type { Uploads } from './uploads.ts';

export interface WebReceivingTools {
  readonly bot: Bot;
  readonly history: History;
  readonly posts: Posts;
  readonly uploads: Uploads;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Who asks, and where. */
export interface Asking {
  readonly person: Person;
  readonly channel: BrowserChannel;
  readonly address: Address;
}

export const DONE = { type: 'done' } as const satisfies BrowserAnswer;
const FILE_GONE = 'The attached file is no longer available. Attach it again.';

interface Invoking {
  readonly id: string;
  readonly target: Target;
  readonly options: RawOptions;
  /** What the channel reads of it; nothing of a pressed button. */
  readonly said?: Pick<WebMessage, 'line' | 'attached'> | undefined;
  readonly isForm?: boolean;
}

export async function invoke(
  { id, target, options, said, isForm = false }: Invoking,
  { person, channel, address }: Asking,
  tools: WebReceivingTools,
): Promise<BrowserAnswer> {
  const entry: WebMessage | undefined = said && {
    ...said,
    id: saidId(id),
    channel: channel.id,
    at: tools.now(),
    author: person.id,
    body: [],
    source: said.line ?? '',
  };
  const to = entry ? { ...address, platformData: { asked: entry.id } } : address;
  return await finish({ id, person, address: to, options, ...target }, tools, { entry, isForm });
}

/** Runs it, and shows what came of it. What was asked is shown once it is taken, so that nothing is said to be that is not. */
export async function finish(
  invocation: Invocation,
  { bot, history, posts }: WebReceivingTools,
  { entry, isForm = false }: { readonly entry?: WebMessage | undefined; readonly isForm?: boolean } = {},
): Promise<BrowserAnswer> {
  const outcome = await bot.run(invocation);
  switch (outcome.type) {
    case 'accepted':
      if (entry) history.put(entry);
      outcome.begin();
      return DONE;
    case 'message': {
      const { message, visibility, option } = outcome;
      if (isForm && option !== undefined)
        return { type: 'wrong', option, sentence: await webNodes(message.text ?? '') };
      const { address, person } = invocation;
      if (entry) history.put(visibility === 'person' ? { ...entry, to: person.id } : entry);
      if (visibility === 'person') await posts.sendPrivately(address, message);
      else await posts.show(address, message, { key: invocation.id, remember: async () => {} });
      return DONE;
    }
    case 'form':
      return formAnswer(outcome.form, invocation.command);
    default:
      return outcome satisfies never;
  }
}

/** What people said has its own ids; see {@link postId}. */
export const saidId = (id: string): string => `p-${id}`;

export const formAnswer = (form: Form, name: string): BrowserAnswer => ({
  type: 'form',
  form,
  name: `/${name}`,
});

/** Throws UserError for a file that is not here any more. */
export function referenceTo(id: string, { uploads }: Pick<WebReceivingTools, 'uploads'>): FileReference {
  const reference = uploads.reference(id);
  if (!reference) throw new UserError(FILE_GONE);
  return reference;
}
